; count.ll for rows that lie one after the other in a file: reads `some` at a time into a buffer and counts
; them, with no return to the interpreter in between. Returns how many rows are done: fewer than `n_rows` where
; the file could not be read.
define i64 @scan(i64 %file, i64 %offset, ptr noalias %buffer, i64 %some, i64 %n_rows, i64 %stride, ptr noalias %masks, i64 %n_masks, i64 %blocks, ptr noalias %out) {
entry:
  %descriptor = trunc i64 %file to i32
  %any = icmp sgt i64 %n_rows, 0
  br i1 %any, label %chunk, label %none
none:
  ret i64 0
chunk:
  %done = phi i64 [ 0, %entry ], [ %done.next, %counted ]
  %left = sub i64 %n_rows, %done
  %take = call i64 @llvm.smin.i64(i64 %left, i64 %some)
  %bytes = mul i64 %take, %stride
  %before = mul i64 %done, %stride
  %at = add i64 %offset, %before
  %got = call i64 @pread(i32 %descriptor, ptr %buffer, i64 %bytes, i64 %at)
  %all = icmp eq i64 %got, %bytes
  br i1 %all, label %counted, label %end
counted:
  %slots = mul i64 %done, %n_masks
  %slots3 = mul i64 %slots, 3
  %here = getelementptr i64, ptr %out, i64 %slots3
  call void @count(ptr %buffer, i64 %take, i64 %stride, ptr %masks, i64 %n_masks, i64 %blocks, ptr %here)
  %done.next = add i64 %done, %take
  %more = icmp slt i64 %done.next, %n_rows
  br i1 %more, label %chunk, label %end
end:
  %total = phi i64 [ %done, %chunk ], [ %done.next, %counted ]
  ret i64 %total
}
declare i64 @pread(i32, ptr, i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
