; Sums weight * w, and weight * w * w, over the values of one column, for each row of weights: w is the whole
; number that a value counts as. RULE stands for scaled or stepped, REAL for float or double, WIDEN for the
; instruction that makes %v.own a double: whatever a column holds, a value is counted in double precision.
; Weights and squares are whole numbers up to 2^24, which a float holds, and sums whole numbers below 2^53, which a
; double holds: the order of adding, left open by `reassoc`, cannot matter. The rule is computed as it is written.

; rule: low, factor, most, missing. round((v - low) * factor) inside 0..most, or missing.
define internal double @scaled(double %v, ptr %rule) alwaysinline {
  %factor.ptr = getelementptr double, ptr %rule, i64 1
  %most.ptr = getelementptr double, ptr %rule, i64 2
  %missing.ptr = getelementptr double, ptr %rule, i64 3
  %low = load double, ptr %rule
  %factor = load double, ptr %factor.ptr
  %most = load double, ptr %most.ptr
  %missing = load double, ptr %missing.ptr
  %moved = fsub double %v, %low
  %share = fmul double %moved, %factor
  %round = call double @llvm.rint.f64(double %share)
  %positive = fcmp ogt double %round, 0.0
  %above = select i1 %positive, double %round, double 0.0
  %inside = fcmp olt double %above, %most
  %clipped = select i1 %inside, double %above, double %most
  %nothing = fcmp uno double %round, 0.0
  %whole = select i1 %nothing, double %missing, double %clipped
  ret double %whole
}

; rule: up, down. 1 above `up`, -1 below `down`, 0 between them or for a missing value.
define internal double @stepped(double %v, ptr %rule) alwaysinline {
  %down.ptr = getelementptr double, ptr %rule, i64 1
  %up = load double, ptr %rule
  %down = load double, ptr %down.ptr
  %above = fcmp ogt double %v, %up
  %below = fcmp olt double %v, %down
  %plus = select i1 %above, double 1.0, double 0.0
  %minus = select i1 %below, double 1.0, double 0.0
  %whole = fsub double %plus, %minus
  ret double %whole
}

declare double @llvm.rint.f64(double)

; weights: (cells, rows) floats. out: (2, cells) doubles, to which the sums, and if asked those of squares, are added.
define i64 @sums(ptr noalias %values, i64 %rows, ptr noalias %rule, ptr noalias %weights, i64 %cells, i64 %squared,
    ptr noalias %out) {
entry:
  %part = alloca [1024 x double], align 64
  br label %tile
tile:
  %first = phi i64 [ 0, %entry ], [ %last, %tile.end ]
  %reach = add i64 %first, 1024
  %short = icmp slt i64 %reach, %rows
  %last = select i1 %short, i64 %reach, i64 %rows
  %size = sub i64 %last, %first
  %column = getelementptr REAL, ptr %values, i64 %first
  br label %value
value:
  %i = phi i64 [ 0, %tile ], [ %i.next, %value ]
  %v.ptr = getelementptr REAL, ptr %column, i64 %i
  %v.own = load REAL, ptr %v.ptr, align 1
  %v = WIDEN
  %w = call double @RULE(double %v, ptr %rule)
  %part.ptr = getelementptr double, ptr %part, i64 %i
  store double %w, ptr %part.ptr
  %i.next = add nuw nsw i64 %i, 1
  %values.left = icmp slt i64 %i.next, %size
  br i1 %values.left, label %value, label %power
power:
  %p = phi i64 [ 0, %value ], [ 1, %square.end ]
  %p.first = mul i64 %p, %cells
  %p.out = getelementptr double, ptr %out, i64 %p.first
  br label %cell
cell:
  %c = phi i64 [ 0, %power ], [ %c.next, %cell.end ]
  %c.first = mul i64 %c, %rows
  %c.start = add i64 %c.first, %first
  %weight = getelementptr float, ptr %weights, i64 %c.start
  br label %add
add:
  %j = phi i64 [ 0, %cell ], [ %j.next, %add ]
  %sum = phi double [ 0.0, %cell ], [ %sum.next, %add ]
  %x.ptr = getelementptr double, ptr %part, i64 %j
  %y.ptr = getelementptr float, ptr %weight, i64 %j
  %x = load double, ptr %x.ptr
  %y.own = load float, ptr %y.ptr
  %y = fpext float %y.own to double
  %xy = fmul reassoc contract double %x, %y
  %sum.next = fadd reassoc contract double %sum, %xy
  %j.next = add nuw nsw i64 %j, 1
  %adds.left = icmp slt i64 %j.next, %size
  br i1 %adds.left, label %add, label %cell.end
cell.end:
  %o.ptr = getelementptr double, ptr %p.out, i64 %c
  %o = load double, ptr %o.ptr
  %o.next = fadd double %o, %sum.next
  store double %o.next, ptr %o.ptr
  %c.next = add nuw nsw i64 %c, 1
  %cells.left = icmp slt i64 %c.next, %cells
  br i1 %cells.left, label %cell, label %power.end
power.end:
  %again = icmp slt i64 %p, %squared
  br i1 %again, label %square, label %tile.end
square:
  %k = phi i64 [ 0, %power.end ], [ %k.next, %square ]
  %s.ptr = getelementptr double, ptr %part, i64 %k
  %s = load double, ptr %s.ptr
  %ss = fmul double %s, %s
  store double %ss, ptr %s.ptr
  %k.next = add nuw nsw i64 %k, 1
  %squares.left = icmp slt i64 %k.next, %size
  br i1 %squares.left, label %square, label %square.end
square.end:
  br label %power
tile.end:
  %tiles.left = icmp slt i64 %last, %rows
  br i1 %tiles.left, label %tile, label %done
done:
  ret i64 0
}
