; Sums weight * dose over the people of packed PLINK rows. Weights come in four planes: the first person of
; every byte, the second, the third, the fourth. A two-bit code is 2 alleles (00), no call (01), 1 (10), 0 (11):
; dose = low bit set ? 0 : 2 - high bit. Sums of 65,536 bytes fit 32 bits; they are added up in 64.
define void @dose(ptr noalias %rows, i64 %n_rows, i64 %stride, ptr noalias %planes, ptr noalias %out) {
entry:
  %p1 = getelementptr i32, ptr %planes, i64 %stride
  %p2 = getelementptr i32, ptr %p1, i64 %stride
  %p3 = getelementptr i32, ptr %p2, i64 %stride
  br label %row
row:
  %r = phi i64 [ 0, %entry ], [ %r.next, %row.end ]
  %start = mul i64 %r, %stride
  %data = getelementptr i8, ptr %rows, i64 %start
  br label %part
part:
  %first = phi i64 [ 0, %row ], [ %last, %part.end ]
  %total = phi i64 [ 0, %row ], [ %total.next, %part.end ]
  %reach = add i64 %first, 65536
  %short = icmp slt i64 %reach, %stride
  %last = select i1 %short, i64 %reach, i64 %stride
  br label %byte
byte:
  %i = phi i64 [ %first, %part ], [ %i.next, %byte ]
  %sum = phi i32 [ 0, %part ], [ %s3, %byte ]
  %b.ptr = getelementptr i8, ptr %data, i64 %i
  %b8 = load i8, ptr %b.ptr
  %b = zext i8 %b8 to i32
  %w0.ptr = getelementptr i32, ptr %planes, i64 %i
  %w1.ptr = getelementptr i32, ptr %p1, i64 %i
  %w2.ptr = getelementptr i32, ptr %p2, i64 %i
  %w3.ptr = getelementptr i32, ptr %p3, i64 %i
  %w0 = load i32, ptr %w0.ptr
  %w1 = load i32, ptr %w1.ptr
  %w2 = load i32, ptr %w2.ptr
  %w3 = load i32, ptr %w3.ptr
  %b1 = lshr i32 %b, 1
  %b2 = lshr i32 %b, 2
  %b3 = lshr i32 %b, 3
  %b4 = lshr i32 %b, 4
  %b5 = lshr i32 %b, 5
  %b6 = lshr i32 %b, 6
  %b7 = lshr i32 %b, 7
  %l0 = and i32 %b, 1
  %l1 = and i32 %b2, 1
  %l2 = and i32 %b4, 1
  %l3 = and i32 %b6, 1
  %h0 = and i32 %b1, 1
  %h1 = and i32 %b3, 1
  %h2 = and i32 %b5, 1
  %h3 = and i32 %b7, 1
  %k0 = sub i32 %l0, 1
  %k1 = sub i32 %l1, 1
  %k2 = sub i32 %l2, 1
  %k3 = sub i32 %l3, 1
  %d0 = sub i32 2, %h0
  %d1 = sub i32 2, %h1
  %d2 = sub i32 2, %h2
  %d3 = sub i32 2, %h3
  %m0 = mul i32 %d0, %w0
  %m1 = mul i32 %d1, %w1
  %m2 = mul i32 %d2, %w2
  %m3 = mul i32 %d3, %w3
  %a0 = and i32 %m0, %k0
  %a1 = and i32 %m1, %k1
  %a2 = and i32 %m2, %k2
  %a3 = and i32 %m3, %k3
  %s0 = add i32 %sum, %a0
  %s1 = add i32 %s0, %a1
  %s2 = add i32 %s1, %a2
  %s3 = add i32 %s2, %a3
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %i.next, %last
  br i1 %more, label %byte, label %part.end
part.end:
  %wide = zext i32 %s3 to i64
  %total.next = add i64 %total, %wide
  %parts = icmp slt i64 %last, %stride
  br i1 %parts, label %part, label %row.end
row.end:
  %o = getelementptr i64, ptr %out, i64 %r
  store i64 %total.next, ptr %o
  %r.next = add nuw nsw i64 %r, 1
  %rows.left = icmp slt i64 %r.next, %n_rows
  br i1 %rows.left, label %row, label %done
done:
  ret void
}
