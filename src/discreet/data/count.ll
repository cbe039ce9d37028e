; Counts genotypes in packed PLINK rows. For each row and each mask (a one at the low bit of every person it
; holds): how many low bits, high bits, and both, are set. A row is read in 64-bit words; the last may reach
; into the next row, where every mask is zero.
define void @count(ptr noalias %rows, i64 %n_rows, i64 %stride, ptr noalias %masks, i64 %n_masks, i64 %words, ptr noalias %out) {
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
  %m.start = mul i64 %c, %words
  %m.data = getelementptr i64, ptr %masks, i64 %m.start
  br label %word
word:
  %i = phi i64 [ 0, %mask ], [ %i.next, %word ]
  %s.low = phi i64 [ 0, %mask ], [ %s.low.next, %word ]
  %s.high = phi i64 [ 0, %mask ], [ %s.high.next, %word ]
  %s.both = phi i64 [ 0, %mask ], [ %s.both.next, %word ]
  %w.ptr = getelementptr i64, ptr %data, i64 %i
  %w = load i64, ptr %w.ptr, align 1
  %m.ptr = getelementptr i64, ptr %m.data, i64 %i
  %m = load i64, ptr %m.ptr, align 8
  %low = and i64 %w, %m
  %shifted = lshr i64 %w, 1
  %high = and i64 %shifted, %m
  %both = and i64 %low, %high
  %p.low = call i64 @llvm.ctpop.i64(i64 %low)
  %p.high = call i64 @llvm.ctpop.i64(i64 %high)
  %p.both = call i64 @llvm.ctpop.i64(i64 %both)
  %s.low.next = add i64 %s.low, %p.low
  %s.high.next = add i64 %s.high, %p.high
  %s.both.next = add i64 %s.both, %p.both
  %i.next = add nuw nsw i64 %i, 1
  %more.words = icmp slt i64 %i.next, %words
  br i1 %more.words, label %word, label %mask.end
mask.end:
  %slot.row = mul i64 %r, %n_masks
  %slot = add i64 %slot.row, %c
  %slot3 = mul i64 %slot, 3
  %o.low = getelementptr i64, ptr %out, i64 %slot3
  store i64 %s.low.next, ptr %o.low
  %o.high = getelementptr i64, ptr %o.low, i64 1
  store i64 %s.high.next, ptr %o.high
  %o.both = getelementptr i64, ptr %o.low, i64 2
  store i64 %s.both.next, ptr %o.both
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
declare i64 @llvm.ctpop.i64(i64)
