; A builtin of CPython (METH_FASTCALL | METH_KEYWORDS) that answers ordinary arrays by the loop of a kernel and leaves all other
; calls to a Python function. direct.py fills in the numbers behind $ and loads it.
;
; Beside LLVM's own instructions there are
;   %x = get TYPE %p[I]          element I of an array at %p           set TYPE %p[I] = X      the same, stored
;   %x = peek TYPE %p + OFFSET   at a distance in bytes
define ptr @loop(ptr %self, ptr %args, i64 %count, ptr %names) {
entry:
  %argv = alloca [$OPERANDS x ptr], align 16
  %made = alloca [$OPERANDS x ptr], align 16
  %steps = alloca [$STRIDES x i64], align 16
  %shape = alloca [$RANK x i64], align 16
  %services = alloca [$SERVICES x i64], align 16
  %states = alloca i64, align 8
  %f = peek ptr %self + $HEAD
  %c = get ptr %f[$context]
  %table = get ptr %f[$loops]
  %k = get i64 %f[$arguments]
  %r = get i64 %f[$results]
  %sizes = get ptr %f[$sizes]
  %array_type = get ptr %c[$ndarray]
  %float64 = get ptr %c[$float64]
  %float32 = get ptr %c[$float32]
  %enough = icmp eq i64 %count, %k
  br i1 %enough, label %keywords, label %slow
keywords:
  %positional = icmp eq ptr %names, null
  br i1 %positional, label %first, label %named

named:  ; only out= with one result
  %keyword_count = peek i64 %names + $HEAD
  %keyword = peek ptr %names + $ITEMS
  %out_name = get ptr %c[$out]
  %is_one = icmp eq i64 %keyword_count, 1
  %is_out = icmp eq ptr %keyword, %out_name
  %has_one = icmp eq i64 %r, 1
  %is_known1 = and i1 %is_one, %is_out
  %is_known = and i1 %is_known1, %has_one
  br i1 %is_known, label %destination, label %slow
destination:
  %given_out = get ptr %args[%k]
  %none = get ptr %c[$none]
  %is_none = icmp eq ptr %given_out, %none
  %wanted_out = select i1 %is_none, ptr null, ptr %given_out
  br label %first

first:  ; the first argument decides the precision
  %out = phi ptr [ null, %keywords ], [ %wanted_out, %destination ]
  %a0 = get ptr %args[0]
  %a0_type = peek ptr %a0 + $TYPE
  %a0_is_array = icmp eq ptr %a0_type, %array_type
  br i1 %a0_is_array, label %precision, label %slow
precision:
  %descr = peek ptr %a0 + $DESCR
  %is64 = icmp eq ptr %descr, %float64
  %is32 = icmp eq ptr %descr, %float32
  %is_float = or i1 %is64, %is32
  %item = select i1 %is64, i64 8, i64 4
  %number = select i1 %is64, i32 12, i32 11
  %which = select i1 %is64, i64 $float64_loop, i64 $float32_loop
  %place = get ptr %table[%which]
  %is_compiled = icmp ne ptr %place, null
  %is_ready = and i1 %is_float, %is_compiled
  br i1 %is_ready, label %argument, label %slow

argument:  ; the arguments in turn; n states in a batch of so many axes
  %i = phi i64 [ 0, %precision ], [ %i1, %accepted ]
  %axes = phi i64 [ 0, %precision ], [ %axes1, %accepted ]
  %n = phi i64 [ 1, %precision ], [ %n1, %accepted ]
  %a = get ptr %args[%i]
  %a_type = peek ptr %a + $TYPE
  %is_array = icmp eq ptr %a_type, %array_type
  br i1 %is_array, label %layout, label %slow
layout:
  %a_descr = peek ptr %a + $DESCR
  %flags = peek i32 %a + $FLAGS
  %rank32 = peek i32 %a + $ND
  %rank = sext i32 %rank32 to i64
  %last = sub i64 %rank, 1
  %is_same = icmp eq ptr %a_descr, %descr
  %aligned = and i32 %flags, $ALIGNED
  %is_aligned = icmp ne i32 %aligned, 0
  %is_ranked = icmp ult i64 %last, $MOST_AXES
  %is_fit1 = and i1 %is_same, %is_aligned
  %is_fit = and i1 %is_fit1, %is_ranked
  br i1 %is_fit, label %lengths, label %slow
lengths:
  %dims = peek ptr %a + $DIMS
  %strides = peek ptr %a + $ARRAY_STRIDES
  %length = get i64 %dims[%last]
  %stride = get i64 %strides[%last]
  %size = get i64 %sizes[%i]
  %data = peek ptr %a + $DATA
  set ptr %argv[%i] = %data
  %is_long = icmp eq i64 %length, %size
  %is_dense1 = icmp eq i64 %stride, %item
  %is_short = icmp sle i64 %size, 1
  %is_dense = or i1 %is_dense1, %is_short
  %is_row = and i1 %is_long, %is_dense
  %is_vector = icmp eq i64 %last, 0
  br i1 %is_row, label %kind, label %slow
kind:
  br i1 %is_vector, label %accepted, label %batch

batch:  ; one or several leading axes; a single one may have any stride
  %row = mul i64 %size, %item
  %is_matrix = icmp eq i64 %last, 1
  %outer = get i64 %strides[0]
  %packed = and i32 %flags, $C_CONTIGUOUS
  %is_packed = icmp ne i32 %packed, 0
  %is_regular = or i1 %is_matrix, %is_packed
  %batch_step = select i1 %is_matrix, i64 %outer, i64 %row
  br i1 %is_regular, label %leading, label %slow
leading:
  %is_first = icmp eq i64 %axes, 0
  br i1 %is_first, label %count_states, label %compare
count_states:
  %j = phi i64 [ 0, %leading ], [ %j1, %count_states ]
  %product = phi i64 [ 1, %leading ], [ %product1, %count_states ]
  %extent = get i64 %dims[%j]
  set i64 %shape[%j] = %extent
  %product1 = mul i64 %product, %extent
  %j1 = add i64 %j, 1
  %j_more = icmp slt i64 %j1, %last
  br i1 %j_more, label %count_states, label %accepted
compare:
  %is_alike = icmp eq i64 %axes, %last
  br i1 %is_alike, label %compare_axis, label %slow
compare_axis:
  %m = phi i64 [ 0, %compare ], [ %m1, %compare_next ]
  %m_extent = get i64 %dims[%m]
  %m_known = get i64 %shape[%m]
  %m_same = icmp eq i64 %m_extent, %m_known
  br i1 %m_same, label %compare_next, label %slow
compare_next:
  %m1 = add i64 %m, 1
  %m_more = icmp slt i64 %m1, %last
  br i1 %m_more, label %compare_axis, label %accepted
accepted:
  %step = phi i64 [ 0, %kind ], [ %batch_step, %count_states ], [ %batch_step, %compare_next ]
  %axes1 = phi i64 [ %axes, %kind ], [ %last, %count_states ], [ %axes, %compare_next ]
  %n1 = phi i64 [ %n, %kind ], [ %product1, %count_states ], [ %n, %compare_next ]
  set i64 %steps[%i] = %step
  %i1 = add i64 %i, 1
  %i_more = icmp slt i64 %i1, %k
  br i1 %i_more, label %argument, label %extent_check
extent_check:
  %most = get i64 %f[$most_states]
  %is_some = icmp sgt i64 %n1, 0
  %is_bounded = icmp sle i64 %n1, %most
  %is_direct = and i1 %is_some, %is_bounded
  br i1 %is_direct, label %core, label %slow

core:  ; strides of the core axes, in elements in the table
  %core_count = get i64 %f[$axes]
  %core_strides = get ptr %f[$strides]
  %operands = add i64 %k, %r
  %core_steps = getelementptr i64, ptr %steps, i64 %operands
  br label %core_axis
core_axis:
  %x = phi i64 [ 0, %core ], [ %x1, %core_next ]
  %x_more = icmp slt i64 %x, %core_count
  br i1 %x_more, label %core_next, label %result_start
core_next:
  %x_stride = get i64 %core_strides[%x]
  %x_bytes = mul i64 %x_stride, %item
  set i64 %core_steps[%x] = %x_bytes
  %x1 = add i64 %x, 1
  br label %core_axis

result_start:
  %result_lengths = get ptr %f[$lengths]
  %result_ranks = get ptr %f[$ranks]
  %result_shapes = get ptr %f[$shapes]
  %batch_shape = getelementptr i64, ptr %shape, i64 %axes1
  br label %result
result:  ; its shape, then its array
  %y = phi i64 [ 0, %result_start ], [ %y1, %held ]
  %y_rank = get i64 %result_ranks[%y]
  %y_length = get i64 %result_lengths[%y]
  %y_at = mul i64 %y, $RESULT_RANK
  %y_shape = getelementptr i64, ptr %result_shapes, i64 %y_at
  br label %result_axis
result_axis:
  %z = phi i64 [ 0, %result ], [ %z1, %result_next ]
  %z_more = icmp slt i64 %z, %y_rank
  br i1 %z_more, label %result_next, label %shaped
result_next:
  %z_extent = get i64 %y_shape[%z]
  set i64 %batch_shape[%z] = %z_extent
  %z1 = add i64 %z, 1
  br label %result_axis
shaped:
  %full_rank = add i64 %axes1, %y_rank
  %y_row = mul i64 %y_length, %item
  %is_new = icmp eq ptr %out, null
  br i1 %is_new, label %allocate, label %inspect
allocate:
  %full_rank32 = trunc i64 %full_rank to i32
  %new = get ptr %c[$PyArray_New]
  %fresh = call ptr %new(ptr %array_type, i32 %full_rank32, ptr %shape, i32 %number, ptr null, ptr null, i32 0, i32 0, ptr null)
  %is_full = icmp eq ptr %fresh, null
  br i1 %is_full, label %give_up, label %held

inspect:  ; the array given as out=
  %o_type = peek ptr %out + $TYPE
  %o_is_array = icmp eq ptr %o_type, %array_type
  br i1 %o_is_array, label %inspect_layout, label %slow
inspect_layout:
  %o_descr = peek ptr %out + $DESCR
  %o_flags = peek i32 %out + $FLAGS
  %o_rank = peek i32 %out + $ND
  %o_rank64 = sext i32 %o_rank to i64
  %o_bits = and i32 %o_flags, $CARRAY
  %o_is_carray = icmp eq i32 %o_bits, $CARRAY
  %o_same = icmp eq ptr %o_descr, %descr
  %o_ranked = icmp eq i64 %o_rank64, %full_rank
  %o_fit1 = and i1 %o_is_carray, %o_same
  %o_fit = and i1 %o_fit1, %o_ranked
  %o_dims = peek ptr %out + $DIMS
  %o_data = peek ptr %out + $DATA
  %o_bytes = mul i64 %n1, %y_row
  %o_end = getelementptr i8, ptr %o_data, i64 %o_bytes
  br i1 %o_fit, label %inspect_axis, label %slow
inspect_axis:
  %w = phi i64 [ 0, %inspect_layout ], [ %w1, %inspect_next ]
  %w_more = icmp slt i64 %w, %full_rank
  br i1 %w_more, label %inspect_extent, label %overlap
inspect_extent:
  %w_extent = get i64 %o_dims[%w]
  %w_known = get i64 %shape[%w]
  %w_same = icmp eq i64 %w_extent, %w_known
  br i1 %w_same, label %inspect_next, label %slow
inspect_next:
  %w1 = add i64 %w, 1
  br label %inspect_axis
overlap:  ; with an argument: the loop must not overwrite what it has yet to read
  %u = phi i64 [ 0, %inspect_axis ], [ %u1, %apart ]
  %u_more = icmp slt i64 %u, %k
  br i1 %u_more, label %overlap_with, label %apart_from_all
overlap_with:
  %u_data = get ptr %argv[%u]
  %u_step = get i64 %steps[%u]
  %u_size = get i64 %sizes[%u]
  %u_row = mul i64 %u_size, %item
  %u_forward = icmp sge i64 %u_step, 0
  %u_others = sub i64 %n1, 1
  %u_span = mul i64 %u_others, %u_step
  %u_bytes = add i64 %u_span, %u_row
  %u_end = getelementptr i8, ptr %u_data, i64 %u_bytes
  %u_before = icmp ule ptr %u_end, %o_data
  %u_after = icmp ule ptr %o_end, %u_data
  %u_apart1 = or i1 %u_before, %u_after
  %u_apart = and i1 %u_apart1, %u_forward
  br i1 %u_apart, label %apart, label %slow
apart:
  %u1 = add i64 %u, 1
  br label %overlap
apart_from_all:
  %incref = get ptr %c[$Py_IncRef]
  call void %incref(ptr %out)
  br label %held

held:
  %array = phi ptr [ %fresh, %allocate ], [ %out, %apart_from_all ]
  set ptr %made[%y] = %array
  %y_operand = add i64 %k, %y
  %y_data = peek ptr %array + $DATA
  set ptr %argv[%y_operand] = %y_data
  set i64 %steps[%y_operand] = %y_row
  %y1 = add i64 %y, 1
  %y_more = icmp slt i64 %y1, %r
  br i1 %y_more, label %result, label %run

run:  ; long ones without the interpreter's lock
  store i64 %n1, ptr %states
  %table_of_services = get ptr %c[$services]
$COPY_SERVICES
  set i64 %services[$STATUS] = 0
  %wide = get ptr %place[0]
  %which_single = add i64 %which, $SINGLE
  %place_single = get ptr %table[%which_single]
  %narrow = get ptr %place_single[0]
  %is_one_state = icmp eq i64 %n1, 1
  %is_narrow_there = icmp ne ptr %narrow, null
  %is_narrow = and i1 %is_one_state, %is_narrow_there
  %loop = select i1 %is_narrow, ptr %narrow, ptr %wide
  %from = get i64 %f[$unlocked_from]
  %is_long_run = icmp sge i64 %n1, %from
  br i1 %is_long_run, label %unlocked, label %locked
locked:
  call void %loop(ptr %argv, ptr %states, ptr %steps, ptr %services)
  br label %ran
unlocked:
  %save = get ptr %c[$PyEval_SaveThread]
  %thread = call ptr %save()
  call void %loop(ptr %argv, ptr %states, ptr %steps, ptr %services)
  %restore = get ptr %c[$PyEval_RestoreThread]
  call void %restore(ptr %thread)
  br label %ran
ran:
  %status = get i64 %services[$STATUS]
  %checked = get i64 %f[$checked]
  %trouble = and i64 %status, %checked
  %is_sound = icmp eq i64 %trouble, 0
  br i1 %is_sound, label %finish, label %release_all
finish:
  %is_single = icmp eq i64 %r, 1
  br i1 %is_single, label %one, label %several
one:
  %only = get ptr %made[0]
  %is_scalar1 = icmp eq i64 %full_rank, 0
  %is_scalar = and i1 %is_scalar1, %is_new
  br i1 %is_scalar, label %scalar, label %whole
whole:
  ret ptr %only
scalar:
  %as_scalar = get ptr %c[$PyArray_Return]
  %scalar_value = call ptr %as_scalar(ptr %only)
  ret ptr %scalar_value
several:
  %tuple_new = get ptr %c[$PyTuple_New]
  %tuple = call ptr %tuple_new(i64 %r)
  %is_no_tuple = icmp eq ptr %tuple, null
  br i1 %is_no_tuple, label %give_up_tuple, label %fill
fill:
  %e = phi i64 [ 0, %several ], [ %e1, %fill_next ]
  %e_more = icmp slt i64 %e, %r
  br i1 %e_more, label %fill_value, label %filled
fill_value:
  %e_array = get ptr %made[%e]
  %e_rank = get i64 %result_ranks[%e]
  %e_full = add i64 %e_rank, %axes1
  %e_is_scalar = icmp eq i64 %e_full, 0
  br i1 %e_is_scalar, label %fill_scalar, label %fill_next
fill_scalar:
  %e_as_scalar = get ptr %c[$PyArray_Return]
  %e_scalar = call ptr %e_as_scalar(ptr %e_array)
  br label %fill_next
fill_next:
  %e_value = phi ptr [ %e_array, %fill_value ], [ %e_scalar, %fill_scalar ]
  %set_item = get ptr %c[$PyTuple_SetItem]
  call i32 %set_item(ptr %tuple, i64 %e, ptr %e_value)
  %e1 = add i64 %e, 1
  br label %fill
filled:
  ret ptr %tuple

give_up:  ; no memory: NumPy has set the error; the results made so far are released
  br label %release
give_up_tuple:
  br label %release
release_all:
  br label %release
release:
  %owned = phi i64 [ %y, %give_up ], [ %r, %give_up_tuple ], [ %r, %release_all ]
  %retry = phi i1 [ false, %give_up ], [ false, %give_up_tuple ], [ true, %release_all ]
  br label %release_one
release_one:
  %g = phi i64 [ 0, %release ], [ %g1, %release_next ]
  %g_more = icmp slt i64 %g, %owned
  br i1 %g_more, label %release_next, label %released
release_next:
  %g_array = get ptr %made[%g]
  %decref = get ptr %c[$Py_DecRef]
  call void %decref(ptr %g_array)
  %g1 = add i64 %g, 1
  br label %release_one
released:
  br i1 %retry, label %slow, label %failed
failed:
  ret ptr null
slow:
  %vectorcall = get ptr %c[$PyObject_Vectorcall]
  %fallback = get ptr %f[$fallback]
  %answer = call ptr %vectorcall(ptr %fallback, ptr %args, i64 %count, ptr %names)
  ret ptr %answer
}
