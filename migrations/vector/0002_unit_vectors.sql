-- Vectors of length 1: their inner product is their cosine similarity; computing that costs a third more.
update memory_embedding set embedding = l2_normalize(embedding);
