; Counts genotypes in packed PLINK rows. For each row and each mask (a one at the low bit of every person it
; holds): how many low bits, high bits, and both, are set. A row is read in blocks of 512 bits; the last may reach
; beyond its end, where every mask is zero. Blocks, not a loop for the compiler to widen: it is ready sooner.
define void @count(ptr noalias %rows, i64 %n_rows, i64 %stride, ptr noalias %masks, i64 %n_masks, i64 %blocks, ptr noalias %out) {
entry:
  %any.rows = icmp sgt i64 %n_rows, 0
  br i1 %any.rows, label %row, label %done
row:
  %r = phi i64 [ 0, %entry ], [ %r.next, %row.end ]
  %start = mul i64 %r, %stride
  %data = getelementptr i8, ptr %rows, i64 %start
  br label %mask
mask:
  %c = phi i64 [ 0, %row ], [ %c.next, %mask.end ]
  %m.start = mul i64 %c, %blocks
  %m.data = getelementptr <8 x i64>, ptr %masks, i64 %m.start
  br label %block
block:
  %i = phi i64 [ 0, %mask ], [ %i.next, %block ]
  %s.low = phi <8 x i64> [ zeroinitializer, %mask ], [ %s.low.next, %block ]
  %s.high = phi <8 x i64> [ zeroinitializer, %mask ], [ %s.high.next, %block ]
  %s.both = phi <8 x i64> [ zeroinitializer, %mask ], [ %s.both.next, %block ]
  %w.ptr = getelementptr <8 x i64>, ptr %data, i64 %i
  %w = load <8 x i64>, ptr %w.ptr, align 1
  %m.ptr = getelementptr <8 x i64>, ptr %m.data, i64 %i
  %m = load <8 x i64>, ptr %m.ptr, align 8
  %low = and <8 x i64> %w, %m
  %shifted = lshr <8 x i64> %w, <i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1>
  %high = and <8 x i64> %shifted, %m
  %both = and <8 x i64> %low, %high
  %p.low = call <8 x i64> @llvm.ctpop.v8i64(<8 x i64> %low)
  %p.high = call <8 x i64> @llvm.ctpop.v8i64(<8 x i64> %high)
  %p.both = call <8 x i64> @llvm.ctpop.v8i64(<8 x i64> %both)
  %s.low.next = add <8 x i64> %s.low, %p.low
  %s.high.next = add <8 x i64> %s.high, %p.high
  %s.both.next = add <8 x i64> %s.both, %p.both
  %i.next = add nuw nsw i64 %i, 1
  %more.blocks = icmp slt i64 %i.next, %blocks
  br i1 %more.blocks, label %block, label %mask.end
mask.end:
  %n.low = call i64 @llvm.vector.reduce.add.v8i64(<8 x i64> %s.low.next)
  %n.high = call i64 @llvm.vector.reduce.add.v8i64(<8 x i64> %s.high.next)
  %n.both = call i64 @llvm.vector.reduce.add.v8i64(<8 x i64> %s.both.next)
  %slot.row = mul i64 %r, %n_masks
  %slot = add i64 %slot.row, %c
  %slot3 = mul i64 %slot, 3
  %o.low = getelementptr i64, ptr %out, i64 %slot3
  store i64 %n.low, ptr %o.low
  %o.high = getelementptr i64, ptr %o.low, i64 1
  store i64 %n.high, ptr %o.high
  %o.both = getelementptr i64, ptr %o.low, i64 2
  store i64 %n.both, ptr %o.both
  %c.next = add nuw nsw i64 %c, 1
  %more.masks = icmp slt i64 %c.next, %n_masks
  br i1 %more.masks, label %mask, label %row.end
row.end:
  %r.next = add nuw nsw i64 %r, 1
  %more.rows = icmp slt i64 %r.next, %n_rows
  br i1 %more.rows, label %row, label %done
done:
  ret void
}
declare <8 x i64> @llvm.ctpop.v8i64(<8 x i64>)
declare i64 @llvm.vector.reduce.add.v8i64(<8 x i64>)
