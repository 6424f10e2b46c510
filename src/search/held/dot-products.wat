;; Dot products of a question with vectors that lie one after the other. Numbers are 32-bit floats, sixteen a step.
;; After a change: npm run kernel
(module
  (import "held" "memory" (memory 1))
  (func (export "products")
    (param $question i32)  ;; address of the question
    (param $vector i32)    ;; address of the first vector
    (param $count i32)     ;; vectors, at least 1
    (param $bytes i32)     ;; bytes of a vector, and of the question: a multiple of 64, at least 64
    (param $product i32)   ;; address of the first product
    (local $at i32)        ;; bytes of the vector that are done
    (local $here i32)      ;; address of what is next of the vector
    (local $asked i32)     ;; address of what is next of the question
    ;; Four sums, as one addition need not wait for another then.
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (loop $vectors
      (local.set $a (v128.const f32x4 0 0 0 0))
      (local.set $b (v128.const f32x4 0 0 0 0))
      (local.set $c (v128.const f32x4 0 0 0 0))
      (local.set $d (v128.const f32x4 0 0 0 0))
      (local.set $at (i32.const 0))
      (loop $steps
        (local.set $here (i32.add (local.get $vector) (local.get $at)))
        (local.set $asked (i32.add (local.get $question) (local.get $at)))
        (local.set $a (f32x4.add (local.get $a)
          (f32x4.mul (v128.load (local.get $here)) (v128.load (local.get $asked)))))
        (local.set $b (f32x4.add (local.get $b)
          (f32x4.mul (v128.load offset=16 (local.get $here)) (v128.load offset=16 (local.get $asked)))))
        (local.set $c (f32x4.add (local.get $c)
          (f32x4.mul (v128.load offset=32 (local.get $here)) (v128.load offset=32 (local.get $asked)))))
        (local.set $d (f32x4.add (local.get $d)
          (f32x4.mul (v128.load offset=48 (local.get $here)) (v128.load offset=48 (local.get $asked)))))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br_if $steps (i32.lt_u (local.get $at) (local.get $bytes))))
      (local.set $a (f32x4.add
        (f32x4.add (local.get $a) (local.get $b))
        (f32x4.add (local.get $c) (local.get $d))))
      (f32.store (local.get $product) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
        (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
      (local.set $product (i32.add (local.get $product) (i32.const 4)))
      (local.set $vector (i32.add (local.get $vector) (local.get $bytes)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $vectors (local.get $count)))))
