-- Vectors of length 1: their inner product is their cosine similarity, at half the cost of computing that.
update memory_embedding set embedding = l2_normalize(embedding);
