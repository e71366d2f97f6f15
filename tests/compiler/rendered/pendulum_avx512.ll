@table = internal global [22 x <8 x double>] [<8 x double> <double 0x4202A05F20000000, double 0x4202A05F20000000, double 0x4202A05F20000000, double 0x4202A05F20000000, double 0x4202A05F20000000, double 0x4202A05F20000000, double 0x4202A05F20000000, double 0x4202A05F20000000>, <8 x double> <double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883>, <8 x double> <double 0x4338000000000000, double 0x4338000000000000, double 0x4338000000000000, double 0x4338000000000000, double 0x4338000000000000, double 0x4338000000000000, double 0x4338000000000000, double 0x4338000000000000>, <8 x double> <double 0x3FF921FB54442D18, double 0x3FF921FB54442D18, double 0x3FF921FB54442D18, double 0x3FF921FB54442D18, double 0x3FF921FB54442D18, double 0x3FF921FB54442D18, double 0x3FF921FB54442D18, double 0x3FF921FB54442D18>, <8 x double> <double 0x3C91A62633145C06, double 0x3C91A62633145C06, double 0x3C91A62633145C06, double 0x3C91A62633145C06, double 0x3C91A62633145C06, double 0x3C91A62633145C06, double 0x3C91A62633145C06, double 0x3C91A62633145C06>, <8 x double> <double 0x394C1CD129024E08, double 0x394C1CD129024E08, double 0x394C1CD129024E08, double 0x394C1CD129024E08, double 0x394C1CD129024E08, double 0x394C1CD129024E08, double 0x394C1CD129024E08, double 0x394C1CD129024E08>, <8 x double> <double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD>, <8 x double> <double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D>, <8 x double> <double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B>, <8 x double> <double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05>, <8 x double> <double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1>, <8 x double> <double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6>, <8 x double> <double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03>, <8 x double> <double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5>, <8 x double> <double 0x3F8111111110F7D0, double 0x3F8111111110F7D0, double 0x3F8111111110F7D0, double 0x3F8111111110F7D0, double 0x3F8111111110F7D0, double 0x3F8111111110F7D0, double 0x3F8111111110F7D0, double 0x3F8111111110F7D0>, <8 x double> <double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91>, <8 x double> <double 0x3FC5555555555548, double 0x3FC5555555555548, double 0x3FC5555555555548, double 0x3FC5555555555548, double 0x3FC5555555555548, double 0x3FC5555555555548, double 0x3FC5555555555548, double 0x3FC5555555555548>, <8 x double> <double 0x3FA555555555554B, double 0x3FA555555555554B, double 0x3FA555555555554B, double 0x3FA555555555554B, double 0x3FA555555555554B, double 0x3FA555555555554B, double 0x3FA555555555554B, double 0x3FA555555555554B>, <8 x double> <double 0x3FE0000000000000, double 0x3FE0000000000000, double 0x3FE0000000000000, double 0x3FE0000000000000, double 0x3FE0000000000000, double 0x3FE0000000000000, double 0x3FE0000000000000, double 0x3FE0000000000000>, <8 x double> <double 0x3FF0000000000000, double 0x3FF0000000000000, double 0x3FF0000000000000, double 0x3FF0000000000000, double 0x3FF0000000000000, double 0x3FF0000000000000, double 0x3FF0000000000000, double 0x3FF0000000000000>, <8 x double> <double 0x40239EB851EB851F, double 0x40239EB851EB851F, double 0x40239EB851EB851F, double 0x40239EB851EB851F, double 0x40239EB851EB851F, double 0x40239EB851EB851F, double 0x40239EB851EB851F, double 0x40239EB851EB851F>, <8 x double> <double 0x3FB999999999999A, double 0x3FB999999999999A, double 0x3FB999999999999A, double 0x3FB999999999999A, double 0x3FB999999999999A, double 0x3FB999999999999A, double 0x3FB999999999999A, double 0x3FB999999999999A>], align 64
declare <8 x double> @llvm.fma.v8f64(<8 x double>, <8 x double>, <8 x double>)
declare <8 x double> @llvm.sqrt.v8f64(<8 x double>)
declare <8 x double> @llvm.fabs.v8f64(<8 x double>)
declare <8 x double> @llvm.floor.v8f64(<8 x double>)
declare <8 x double> @llvm.minimum.v8f64(<8 x double>, <8 x double>)
declare <8 x double> @llvm.maximum.v8f64(<8 x double>, <8 x double>)
declare <8 x double> @llvm.copysign.v8f64(<8 x double>, <8 x double>)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <8 x double> @llvm.masked.load.v8f64.p0(ptr, i32, <8 x i1>, <8 x double>)
declare void @llvm.masked.store.v8f64.p0(<8 x double>, ptr, i32, <8 x i1>)
declare double @llvm.fabs.f64(double)
declare i1 @llvm.vector.reduce.or.v8i1(<8 x i1>)
declare double @sin(double)
declare double @cos(double)
declare double @asin(double)
declare double @acos(double)
declare double @exp(double)
declare double @log(double)
declare double @tanh(double)
declare double @atan2(double, double)
declare double @pow(double, double)
define internal <8 x double> @slow_angle(<8 x double> %x) cold noinline {
entry:
  br label %lane
lane:
  %k = phi i32 [ 0, %entry ], [ %next, %lane ]
  %before = phi <8 x double> [ %x, %entry ], [ %after, %lane ]
  %angle = extractelement <8 x double> %x, i32 %k
  %size = call double @llvm.fabs.f64(double %angle)
  %far = fcmp ogt double %size, 0x40F86A0000000000
  %s = call double @sin(double %angle)
  %c = call double @cos(double %angle)
  %a = call double @atan2(double %s, double %c)
  %near = select i1 %far, double %a, double %angle
  %after = insertelement <8 x double> %before, double %near, i32 %k
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, 8
  br i1 %more, label %lane, label %done
done:
  ret <8 x double> %after
}
define internal void @segment0(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {
entry:
  %r1 = getelementptr ptr, ptr %in, i64 0
  %r2 = load ptr, ptr %r1, align 8
  %r3 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %r2, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x double> zeroinitializer)
  %r4 = getelementptr ptr, ptr %in, i64 1
  %r5 = load ptr, ptr %r4, align 8
  %r6 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %r5, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x double> zeroinitializer)
  %r7 = getelementptr ptr, ptr %in, i64 2
  %r8 = load ptr, ptr %r7, align 8
  %r9 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %r8, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x double> zeroinitializer)
  %r10 = getelementptr ptr, ptr %in, i64 3
  %r11 = load ptr, ptr %r10, align 8
  %r12 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %r11, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x double> zeroinitializer)
  %r13 = getelementptr ptr, ptr %in, i64 4
  %r14 = load ptr, ptr %r13, align 8
  %r15 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %r14, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x double> zeroinitializer)
  %r16 = getelementptr ptr, ptr %in, i64 5
  %r17 = load ptr, ptr %r16, align 8
  %r18 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %r17, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x double> zeroinitializer)
  %r19 = getelementptr ptr, ptr %in, i64 6
  %r20 = load ptr, ptr %r19, align 8
  %r21 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %r20, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x double> zeroinitializer)
  %r22 = getelementptr ptr, ptr %in, i64 7
  %r23 = load ptr, ptr %r22, align 8
  %r24 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %r23, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x double> zeroinitializer)
  %r25 = shufflevector <8 x double> %r3, <8 x double> %r15, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r26 = shufflevector <8 x double> %r3, <8 x double> %r15, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r27 = shufflevector <8 x double> %r6, <8 x double> %r18, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r28 = shufflevector <8 x double> %r6, <8 x double> %r18, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r29 = shufflevector <8 x double> %r9, <8 x double> %r21, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r30 = shufflevector <8 x double> %r9, <8 x double> %r21, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r31 = shufflevector <8 x double> %r12, <8 x double> %r24, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r32 = shufflevector <8 x double> %r12, <8 x double> %r24, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r33 = shufflevector <8 x double> %r25, <8 x double> %r29, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r34 = shufflevector <8 x double> %r25, <8 x double> %r29, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r35 = shufflevector <8 x double> %r26, <8 x double> %r30, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r36 = shufflevector <8 x double> %r26, <8 x double> %r30, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r37 = shufflevector <8 x double> %r27, <8 x double> %r31, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r38 = shufflevector <8 x double> %r27, <8 x double> %r31, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r39 = shufflevector <8 x double> %r28, <8 x double> %r32, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r40 = shufflevector <8 x double> %r28, <8 x double> %r32, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r41 = shufflevector <8 x double> %r33, <8 x double> %r37, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r42 = shufflevector <8 x double> %r33, <8 x double> %r37, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r43 = shufflevector <8 x double> %r34, <8 x double> %r38, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r44 = shufflevector <8 x double> %r34, <8 x double> %r38, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r45 = shufflevector <8 x double> %r35, <8 x double> %r39, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r46 = shufflevector <8 x double> %r35, <8 x double> %r39, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r47 = shufflevector <8 x double> %r36, <8 x double> %r40, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r48 = shufflevector <8 x double> %r36, <8 x double> %r40, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r49 = getelementptr <8 x double>, ptr %frame, i64 1
  store volatile <8 x double> %r42, ptr %r49, align 64
  %r50 = fmul <8 x double> %r41, %r41
  %r51 = getelementptr <8 x double>, ptr @table, i64 0
  %r52 = load volatile <8 x double>, ptr %r51, align 64
  %r53 = fcmp ogt <8 x double> %r50, %r52
  %r54 = call i1 @llvm.vector.reduce.or.v8i1(<8 x i1> %r53)
  br i1 %r54, label %far54, label %near54, !prof !0
far54:
  %r55 = call <8 x double> @slow_angle(<8 x double> %r41)
  br label %near54
near54:
  %r56 = phi <8 x double> [ %r41, %entry ], [ %r55, %far54 ]
  %r57 = getelementptr <8 x double>, ptr @table, i64 1
  %r58 = load volatile <8 x double>, ptr %r57, align 64
  %r59 = getelementptr <8 x double>, ptr @table, i64 2
  %r60 = load volatile <8 x double>, ptr %r59, align 64
  %r61 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r56, <8 x double> %r58, <8 x double> %r60)
  %r62 = getelementptr <8 x double>, ptr @table, i64 2
  %r63 = load volatile <8 x double>, ptr %r62, align 64
  %r64 = fsub <8 x double> %r61, %r63
  %r65 = bitcast <8 x double> %r61 to <8 x i64>
  %r66 = shl <8 x i64> %r65, <i64 62, i64 62, i64 62, i64 62, i64 62, i64 62, i64 62, i64 62>
  %r67 = bitcast <8 x i64> %r66 to <8 x double>
  %r68 = bitcast <8 x double> %r67 to <8 x i64>
  %r69 = and <8 x i64> %r68, <i64 -9223372036854775808, i64 -9223372036854775808, i64 -9223372036854775808, i64 -9223372036854775808, i64 -9223372036854775808, i64 -9223372036854775808, i64 -9223372036854775808, i64 -9223372036854775808>
  %r70 = bitcast <8 x i64> %r69 to <8 x double>
  %r71 = bitcast <8 x double> %r61 to <8 x i64>
  %r72 = and <8 x i64> %r71, <i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1>
  %r73 = bitcast <8 x i64> %r72 to <8 x double>
  %r74 = getelementptr <8 x double>, ptr @table, i64 3
  %r75 = load volatile <8 x double>, ptr %r74, align 64
  %r76 = fneg <8 x double> %r64
  %r77 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r76, <8 x double> %r75, <8 x double> %r56)
  %r78 = getelementptr <8 x double>, ptr @table, i64 4
  %r79 = load volatile <8 x double>, ptr %r78, align 64
  %r80 = fneg <8 x double> %r64
  %r81 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r80, <8 x double> %r79, <8 x double> %r77)
  %r82 = getelementptr <8 x double>, ptr @table, i64 5
  %r83 = load volatile <8 x double>, ptr %r82, align 64
  %r84 = fneg <8 x double> %r64
  %r85 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r84, <8 x double> %r83, <8 x double> %r81)
  %r86 = fmul <8 x double> %r85, %r85
  %r87 = getelementptr <8 x double>, ptr @table, i64 6
  %r88 = load volatile <8 x double>, ptr %r87, align 64
  %r89 = getelementptr <8 x double>, ptr @table, i64 7
  %r90 = load volatile <8 x double>, ptr %r89, align 64
  %r91 = fneg <8 x double> %r88
  %r92 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r91, <8 x double> %r86, <8 x double> %r90)
  %r93 = getelementptr <8 x double>, ptr @table, i64 8
  %r94 = load volatile <8 x double>, ptr %r93, align 64
  %r95 = getelementptr <8 x double>, ptr @table, i64 9
  %r96 = load volatile <8 x double>, ptr %r95, align 64
  %r97 = fneg <8 x double> %r94
  %r98 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r97, <8 x double> %r86, <8 x double> %r96)
  %r99 = getelementptr <8 x double>, ptr @table, i64 10
  %r100 = load volatile <8 x double>, ptr %r99, align 64
  %r101 = fneg <8 x double> %r92
  %r102 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r101, <8 x double> %r86, <8 x double> %r100)
  %r103 = getelementptr <8 x double>, ptr @table, i64 11
  %r104 = load volatile <8 x double>, ptr %r103, align 64
  %r105 = fneg <8 x double> %r98
  %r106 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r105, <8 x double> %r86, <8 x double> %r104)
  %r107 = getelementptr <8 x double>, ptr @table, i64 12
  %r108 = load volatile <8 x double>, ptr %r107, align 64
  %r109 = fneg <8 x double> %r102
  %r110 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r109, <8 x double> %r86, <8 x double> %r108)
  %r111 = getelementptr <8 x double>, ptr @table, i64 13
  %r112 = load volatile <8 x double>, ptr %r111, align 64
  %r113 = fneg <8 x double> %r106
  %r114 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r113, <8 x double> %r86, <8 x double> %r112)
  %r115 = getelementptr <8 x double>, ptr @table, i64 14
  %r116 = load volatile <8 x double>, ptr %r115, align 64
  %r117 = fneg <8 x double> %r110
  %r118 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r117, <8 x double> %r86, <8 x double> %r116)
  %r119 = getelementptr <8 x double>, ptr @table, i64 15
  %r120 = load volatile <8 x double>, ptr %r119, align 64
  %r121 = fneg <8 x double> %r114
  %r122 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r121, <8 x double> %r86, <8 x double> %r120)
  %r123 = getelementptr <8 x double>, ptr @table, i64 16
  %r124 = load volatile <8 x double>, ptr %r123, align 64
  %r125 = fneg <8 x double> %r118
  %r126 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r125, <8 x double> %r86, <8 x double> %r124)
  %r127 = getelementptr <8 x double>, ptr @table, i64 17
  %r128 = load volatile <8 x double>, ptr %r127, align 64
  %r129 = fneg <8 x double> %r122
  %r130 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r129, <8 x double> %r86, <8 x double> %r128)
  %r131 = fmul <8 x double> %r126, %r86
  %r132 = getelementptr <8 x double>, ptr @table, i64 18
  %r133 = load volatile <8 x double>, ptr %r132, align 64
  %r134 = fneg <8 x double> %r130
  %r135 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r134, <8 x double> %r86, <8 x double> %r133)
  %r136 = fneg <8 x double> %r131
  %r137 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r136, <8 x double> %r85, <8 x double> %r85)
  %r138 = getelementptr <8 x double>, ptr @table, i64 19
  %r139 = load volatile <8 x double>, ptr %r138, align 64
  %r140 = fneg <8 x double> %r135
  %r141 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r140, <8 x double> %r86, <8 x double> %r139)
  %r142 = bitcast <8 x double> %r137 to <8 x i64>
  %r143 = bitcast <8 x double> %r70 to <8 x i64>
  %r144 = xor <8 x i64> %r142, %r143
  %r145 = bitcast <8 x i64> %r144 to <8 x double>
  %r146 = bitcast <8 x double> %r141 to <8 x i64>
  %r147 = bitcast <8 x double> %r70 to <8 x i64>
  %r148 = xor <8 x i64> %r146, %r147
  %r149 = bitcast <8 x i64> %r148 to <8 x double>
  %r150 = bitcast <8 x double> %r73 to <8 x i64>
  %r151 = icmp ne <8 x i64> %r150, zeroinitializer
  %r152 = select <8 x i1> %r151, <8 x double> %r149, <8 x double> %r145
  %r153 = bitcast <8 x double> %r73 to <8 x i64>
  %r154 = icmp ne <8 x i64> %r153, zeroinitializer
  %r155 = fneg <8 x double> %r145
  %r156 = select <8 x i1> %r154, <8 x double> %r155, <8 x double> %r149
  %r157 = getelementptr <8 x double>, ptr @table, i64 20
  %r158 = load volatile <8 x double>, ptr %r157, align 64
  %r159 = fmul <8 x double> %r158, %r152
  %r160 = getelementptr <8 x double>, ptr %frame, i64 1
  %r161 = load volatile <8 x double>, ptr %r160, align 64
  %r162 = fmul <8 x double> %r161, %r156
  %r163 = getelementptr <8 x double>, ptr @table, i64 21
  %r164 = load volatile <8 x double>, ptr %r163, align 64
  %r165 = call <8 x double> @llvm.fma.v8f64(<8 x double> %r164, <8 x double> %r162, <8 x double> %r159)
  %r166 = fneg <8 x double> %r165
  %r167 = shufflevector <8 x double> %r161, <8 x double> poison, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r168 = shufflevector <8 x double> %r161, <8 x double> poison, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r169 = shufflevector <8 x double> %r166, <8 x double> poison, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r170 = shufflevector <8 x double> %r166, <8 x double> poison, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r171 = shufflevector <8 x double> poison, <8 x double> poison, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r172 = shufflevector <8 x double> poison, <8 x double> poison, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r173 = shufflevector <8 x double> poison, <8 x double> poison, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r174 = shufflevector <8 x double> poison, <8 x double> poison, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r175 = shufflevector <8 x double> %r167, <8 x double> %r171, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r176 = shufflevector <8 x double> %r167, <8 x double> %r171, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r177 = shufflevector <8 x double> %r168, <8 x double> %r172, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r178 = shufflevector <8 x double> %r168, <8 x double> %r172, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r179 = shufflevector <8 x double> %r169, <8 x double> %r173, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r180 = shufflevector <8 x double> %r169, <8 x double> %r173, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r181 = shufflevector <8 x double> %r170, <8 x double> %r174, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r182 = shufflevector <8 x double> %r170, <8 x double> %r174, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r183 = shufflevector <8 x double> %r175, <8 x double> %r179, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r184 = shufflevector <8 x double> %r175, <8 x double> %r179, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r185 = shufflevector <8 x double> %r176, <8 x double> %r180, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r186 = shufflevector <8 x double> %r176, <8 x double> %r180, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r187 = shufflevector <8 x double> %r177, <8 x double> %r181, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r188 = shufflevector <8 x double> %r177, <8 x double> %r181, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r189 = shufflevector <8 x double> %r178, <8 x double> %r182, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %r190 = shufflevector <8 x double> %r178, <8 x double> %r182, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %r191 = getelementptr ptr, ptr %out, i64 0
  %r192 = load ptr, ptr %r191, align 8
  call void @llvm.masked.store.v8f64.p0(<8 x double> %r183, ptr %r192, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>)
  %r193 = getelementptr ptr, ptr %out, i64 1
  %r194 = load ptr, ptr %r193, align 8
  call void @llvm.masked.store.v8f64.p0(<8 x double> %r184, ptr %r194, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>)
  %r195 = getelementptr ptr, ptr %out, i64 2
  %r196 = load ptr, ptr %r195, align 8
  call void @llvm.masked.store.v8f64.p0(<8 x double> %r185, ptr %r196, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>)
  %r197 = getelementptr ptr, ptr %out, i64 3
  %r198 = load ptr, ptr %r197, align 8
  call void @llvm.masked.store.v8f64.p0(<8 x double> %r186, ptr %r198, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>)
  %r199 = getelementptr ptr, ptr %out, i64 4
  %r200 = load ptr, ptr %r199, align 8
  call void @llvm.masked.store.v8f64.p0(<8 x double> %r187, ptr %r200, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>)
  %r201 = getelementptr ptr, ptr %out, i64 5
  %r202 = load ptr, ptr %r201, align 8
  call void @llvm.masked.store.v8f64.p0(<8 x double> %r188, ptr %r202, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>)
  %r203 = getelementptr ptr, ptr %out, i64 6
  %r204 = load ptr, ptr %r203, align 8
  call void @llvm.masked.store.v8f64.p0(<8 x double> %r189, ptr %r204, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>)
  %r205 = getelementptr ptr, ptr %out, i64 7
  %r206 = load ptr, ptr %r205, align 8
  call void @llvm.masked.store.v8f64.p0(<8 x double> %r190, ptr %r206, i32 8, <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>)
  ret void
}
define internal i1 @body(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {
entry:
  call void @segment0(ptr %in, ptr %out, ptr %frame)
  ret i1 true
}
define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %services) {
entry:
  %in = alloca [24 x ptr], align 64
  %out = alloca [8 x ptr], align 64
  %n = load i64, ptr %dims, align 8
  %pp0 = getelementptr ptr, ptr %args, i64 0
  %base0 = load ptr, ptr %pp0, align 8
  %ps0 = getelementptr i64, ptr %steps, i64 0
  %step0 = load i64, ptr %ps0, align 8
  %pp1 = getelementptr ptr, ptr %args, i64 1
  %base1 = load ptr, ptr %pp1, align 8
  %ps1 = getelementptr i64, ptr %steps, i64 1
  %step1 = load i64, ptr %ps1, align 8
  %pp2 = getelementptr ptr, ptr %args, i64 2
  %base2 = load ptr, ptr %pp2, align 8
  %ps2 = getelementptr i64, ptr %steps, i64 2
  %step2 = load i64, ptr %ps2, align 8
  %pp3 = getelementptr ptr, ptr %args, i64 3
  %base3 = load ptr, ptr %pp3, align 8
  %ps3 = getelementptr i64, ptr %steps, i64 3
  %step3 = load i64, ptr %ps3, align 8
  %pc0_0 = getelementptr i64, ptr %steps, i64 4
  %core0_0 = load i64, ptr %pc0_0, align 8
  %is0_0 = icmp eq i64 %core0_0, 8
  %all0_0 = and i1 true, %is0_0
  %pc1_0 = getelementptr i64, ptr %steps, i64 5
  %core1_0 = load i64, ptr %pc1_0, align 8
  %is1_0 = icmp eq i64 %core1_0, 8
  %all1_0 = and i1 true, %is1_0
  %pc2_0 = getelementptr i64, ptr %steps, i64 6
  %core2_0 = load i64, ptr %pc2_0, align 8
  %is2_0 = icmp eq i64 %core2_0, 8
  %all2_0 = and i1 true, %is2_0
  %pc3_0 = getelementptr i64, ptr %steps, i64 7
  %core3_0 = load i64, ptr %pc3_0, align 8
  %is3_0 = icmp eq i64 %core3_0, 8
  %all3_0 = and i1 true, %is3_0
  %copies = alloca [384 x i8], align 64
  %frame = alloca [128 x i8], align 64
  br label %start
done:
  ret void
start:
  %own0_0 = getelementptr i8, ptr %copies, i64 0
  %own0_1 = getelementptr i8, ptr %copies, i64 16
  %own0_2 = getelementptr i8, ptr %copies, i64 32
  %own0_3 = getelementptr i8, ptr %copies, i64 48
  %own0_4 = getelementptr i8, ptr %copies, i64 64
  %own0_5 = getelementptr i8, ptr %copies, i64 80
  %own0_6 = getelementptr i8, ptr %copies, i64 96
  %own0_7 = getelementptr i8, ptr %copies, i64 112
  %own1_0 = getelementptr i8, ptr %copies, i64 128
  %own1_1 = getelementptr i8, ptr %copies, i64 136
  %own1_2 = getelementptr i8, ptr %copies, i64 144
  %own1_3 = getelementptr i8, ptr %copies, i64 152
  %own1_4 = getelementptr i8, ptr %copies, i64 160
  %own1_5 = getelementptr i8, ptr %copies, i64 168
  %own1_6 = getelementptr i8, ptr %copies, i64 176
  %own1_7 = getelementptr i8, ptr %copies, i64 184
  %own2_0 = getelementptr i8, ptr %copies, i64 192
  %own2_1 = getelementptr i8, ptr %copies, i64 200
  %own2_2 = getelementptr i8, ptr %copies, i64 208
  %own2_3 = getelementptr i8, ptr %copies, i64 216
  %own2_4 = getelementptr i8, ptr %copies, i64 224
  %own2_5 = getelementptr i8, ptr %copies, i64 232
  %own2_6 = getelementptr i8, ptr %copies, i64 240
  %own2_7 = getelementptr i8, ptr %copies, i64 248
  %own3_0 = getelementptr i8, ptr %copies, i64 256
  %own3_1 = getelementptr i8, ptr %copies, i64 272
  %own3_2 = getelementptr i8, ptr %copies, i64 288
  %own3_3 = getelementptr i8, ptr %copies, i64 304
  %own3_4 = getelementptr i8, ptr %copies, i64 320
  %own3_5 = getelementptr i8, ptr %copies, i64 336
  %own3_6 = getelementptr i8, ptr %copies, i64 352
  %own3_7 = getelementptr i8, ptr %copies, i64 368
  br label %head
head:
  %i = phi i64 [ 0, %start ], [ %next, %after ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %lanes, label %done
lanes:
  %left = sub i64 %n, %i
  %have0 = icmp sgt i64 %left, 0
  %upto0 = select i1 %have0, i64 0, i64 0
  %row0 = add i64 %i, %upto0
  %have1 = icmp sgt i64 %left, 1
  %upto1 = select i1 %have1, i64 1, i64 0
  %row1 = add i64 %i, %upto1
  %have2 = icmp sgt i64 %left, 2
  %upto2 = select i1 %have2, i64 2, i64 0
  %row2 = add i64 %i, %upto2
  %have3 = icmp sgt i64 %left, 3
  %upto3 = select i1 %have3, i64 3, i64 0
  %row3 = add i64 %i, %upto3
  %have4 = icmp sgt i64 %left, 4
  %upto4 = select i1 %have4, i64 4, i64 0
  %row4 = add i64 %i, %upto4
  %have5 = icmp sgt i64 %left, 5
  %upto5 = select i1 %have5, i64 5, i64 0
  %row5 = add i64 %i, %upto5
  %have6 = icmp sgt i64 %left, 6
  %upto6 = select i1 %have6, i64 6, i64 0
  %row6 = add i64 %i, %upto6
  %have7 = icmp sgt i64 %left, 7
  %upto7 = select i1 %have7, i64 7, i64 0
  %row7 = add i64 %i, %upto7
  %later3 = add i64 %i, 128
  %laterat3 = mul i64 %later3, %step3
  %fetch3 = getelementptr i8, ptr %base3, i64 %laterat3
  br label %fetching3
fetching3:
  %f3 = phi i64 [ 0, %lanes ], [ %fn3, %fetching3 ]
  %fo3_0 = add i64 %f3, 0
  %fl3_0 = getelementptr i8, ptr %fetch3, i64 %fo3_0
  call void @llvm.prefetch.p0(ptr %fl3_0, i32 1, i32 3, i32 1)
  %fo3_64 = add i64 %f3, 64
  %fl3_64 = getelementptr i8, ptr %fetch3, i64 %fo3_64
  call void @llvm.prefetch.p0(ptr %fl3_64, i32 1, i32 3, i32 1)
  %fn3 = add i64 %f3, 512
  %fc3 = icmp slt i64 %fn3, 128
  br i1 %fc3, label %fetching3, label %fetched3
fetched3:
  br label %point0
point0:
  %off0_0 = mul i64 %row0, %step0
  %at0_0 = getelementptr i8, ptr %base0, i64 %off0_0
  %slot0_0 = getelementptr ptr, ptr %in, i64 0
  store ptr %at0_0, ptr %slot0_0, align 8
  %off0_1 = mul i64 %row1, %step0
  %at0_1 = getelementptr i8, ptr %base0, i64 %off0_1
  %slot0_1 = getelementptr ptr, ptr %in, i64 1
  store ptr %at0_1, ptr %slot0_1, align 8
  %off0_2 = mul i64 %row2, %step0
  %at0_2 = getelementptr i8, ptr %base0, i64 %off0_2
  %slot0_2 = getelementptr ptr, ptr %in, i64 2
  store ptr %at0_2, ptr %slot0_2, align 8
  %off0_3 = mul i64 %row3, %step0
  %at0_3 = getelementptr i8, ptr %base0, i64 %off0_3
  %slot0_3 = getelementptr ptr, ptr %in, i64 3
  store ptr %at0_3, ptr %slot0_3, align 8
  %off0_4 = mul i64 %row4, %step0
  %at0_4 = getelementptr i8, ptr %base0, i64 %off0_4
  %slot0_4 = getelementptr ptr, ptr %in, i64 4
  store ptr %at0_4, ptr %slot0_4, align 8
  %off0_5 = mul i64 %row5, %step0
  %at0_5 = getelementptr i8, ptr %base0, i64 %off0_5
  %slot0_5 = getelementptr ptr, ptr %in, i64 5
  store ptr %at0_5, ptr %slot0_5, align 8
  %off0_6 = mul i64 %row6, %step0
  %at0_6 = getelementptr i8, ptr %base0, i64 %off0_6
  %slot0_6 = getelementptr ptr, ptr %in, i64 6
  store ptr %at0_6, ptr %slot0_6, align 8
  %off0_7 = mul i64 %row7, %step0
  %at0_7 = getelementptr i8, ptr %base0, i64 %off0_7
  %slot0_7 = getelementptr ptr, ptr %in, i64 7
  store ptr %at0_7, ptr %slot0_7, align 8
  br i1 %all0_0, label %point1, label %take0
take0:
  store ptr %own0_0, ptr %slot0_0, align 8
  store ptr %own0_1, ptr %slot0_1, align 8
  store ptr %own0_2, ptr %slot0_2, align 8
  store ptr %own0_3, ptr %slot0_3, align 8
  store ptr %own0_4, ptr %slot0_4, align 8
  store ptr %own0_5, ptr %slot0_5, align 8
  store ptr %own0_6, ptr %slot0_6, align 8
  store ptr %own0_7, ptr %slot0_7, align 8
  br label %each0
each0:
  %e0 = phi i64 [ 0, %take0 ], [ %en0, %each0 ]
  %em0 = mul i64 %e0, %core0_0
  %eo0 = add i64 0, %em0
  %there0_0 = getelementptr i8, ptr %at0_0, i64 %eo0
  %here0_0 = getelementptr double, ptr %own0_0, i64 %e0
  %x0_0 = load double, ptr %there0_0, align 8
  store double %x0_0, ptr %here0_0, align 8
  %there0_1 = getelementptr i8, ptr %at0_1, i64 %eo0
  %here0_1 = getelementptr double, ptr %own0_1, i64 %e0
  %x0_1 = load double, ptr %there0_1, align 8
  store double %x0_1, ptr %here0_1, align 8
  %there0_2 = getelementptr i8, ptr %at0_2, i64 %eo0
  %here0_2 = getelementptr double, ptr %own0_2, i64 %e0
  %x0_2 = load double, ptr %there0_2, align 8
  store double %x0_2, ptr %here0_2, align 8
  %there0_3 = getelementptr i8, ptr %at0_3, i64 %eo0
  %here0_3 = getelementptr double, ptr %own0_3, i64 %e0
  %x0_3 = load double, ptr %there0_3, align 8
  store double %x0_3, ptr %here0_3, align 8
  %there0_4 = getelementptr i8, ptr %at0_4, i64 %eo0
  %here0_4 = getelementptr double, ptr %own0_4, i64 %e0
  %x0_4 = load double, ptr %there0_4, align 8
  store double %x0_4, ptr %here0_4, align 8
  %there0_5 = getelementptr i8, ptr %at0_5, i64 %eo0
  %here0_5 = getelementptr double, ptr %own0_5, i64 %e0
  %x0_5 = load double, ptr %there0_5, align 8
  store double %x0_5, ptr %here0_5, align 8
  %there0_6 = getelementptr i8, ptr %at0_6, i64 %eo0
  %here0_6 = getelementptr double, ptr %own0_6, i64 %e0
  %x0_6 = load double, ptr %there0_6, align 8
  store double %x0_6, ptr %here0_6, align 8
  %there0_7 = getelementptr i8, ptr %at0_7, i64 %eo0
  %here0_7 = getelementptr double, ptr %own0_7, i64 %e0
  %x0_7 = load double, ptr %there0_7, align 8
  store double %x0_7, ptr %here0_7, align 8
  %en0 = add i64 %e0, 1
  %ec0 = icmp slt i64 %en0, 2
  br i1 %ec0, label %each0, label %copied0
copied0:
  br label %point1
point1:
  %off1_0 = mul i64 %row0, %step1
  %at1_0 = getelementptr i8, ptr %base1, i64 %off1_0
  %slot1_0 = getelementptr ptr, ptr %in, i64 8
  store ptr %at1_0, ptr %slot1_0, align 8
  %off1_1 = mul i64 %row1, %step1
  %at1_1 = getelementptr i8, ptr %base1, i64 %off1_1
  %slot1_1 = getelementptr ptr, ptr %in, i64 9
  store ptr %at1_1, ptr %slot1_1, align 8
  %off1_2 = mul i64 %row2, %step1
  %at1_2 = getelementptr i8, ptr %base1, i64 %off1_2
  %slot1_2 = getelementptr ptr, ptr %in, i64 10
  store ptr %at1_2, ptr %slot1_2, align 8
  %off1_3 = mul i64 %row3, %step1
  %at1_3 = getelementptr i8, ptr %base1, i64 %off1_3
  %slot1_3 = getelementptr ptr, ptr %in, i64 11
  store ptr %at1_3, ptr %slot1_3, align 8
  %off1_4 = mul i64 %row4, %step1
  %at1_4 = getelementptr i8, ptr %base1, i64 %off1_4
  %slot1_4 = getelementptr ptr, ptr %in, i64 12
  store ptr %at1_4, ptr %slot1_4, align 8
  %off1_5 = mul i64 %row5, %step1
  %at1_5 = getelementptr i8, ptr %base1, i64 %off1_5
  %slot1_5 = getelementptr ptr, ptr %in, i64 13
  store ptr %at1_5, ptr %slot1_5, align 8
  %off1_6 = mul i64 %row6, %step1
  %at1_6 = getelementptr i8, ptr %base1, i64 %off1_6
  %slot1_6 = getelementptr ptr, ptr %in, i64 14
  store ptr %at1_6, ptr %slot1_6, align 8
  %off1_7 = mul i64 %row7, %step1
  %at1_7 = getelementptr i8, ptr %base1, i64 %off1_7
  %slot1_7 = getelementptr ptr, ptr %in, i64 15
  store ptr %at1_7, ptr %slot1_7, align 8
  br i1 %all1_0, label %point2, label %take1
take1:
  store ptr %own1_0, ptr %slot1_0, align 8
  store ptr %own1_1, ptr %slot1_1, align 8
  store ptr %own1_2, ptr %slot1_2, align 8
  store ptr %own1_3, ptr %slot1_3, align 8
  store ptr %own1_4, ptr %slot1_4, align 8
  store ptr %own1_5, ptr %slot1_5, align 8
  store ptr %own1_6, ptr %slot1_6, align 8
  store ptr %own1_7, ptr %slot1_7, align 8
  br label %each1
each1:
  %e1 = phi i64 [ 0, %take1 ], [ %en1, %each1 ]
  %em1 = mul i64 %e1, %core1_0
  %eo1 = add i64 0, %em1
  %there1_0 = getelementptr i8, ptr %at1_0, i64 %eo1
  %here1_0 = getelementptr double, ptr %own1_0, i64 %e1
  %x1_0 = load double, ptr %there1_0, align 8
  store double %x1_0, ptr %here1_0, align 8
  %there1_1 = getelementptr i8, ptr %at1_1, i64 %eo1
  %here1_1 = getelementptr double, ptr %own1_1, i64 %e1
  %x1_1 = load double, ptr %there1_1, align 8
  store double %x1_1, ptr %here1_1, align 8
  %there1_2 = getelementptr i8, ptr %at1_2, i64 %eo1
  %here1_2 = getelementptr double, ptr %own1_2, i64 %e1
  %x1_2 = load double, ptr %there1_2, align 8
  store double %x1_2, ptr %here1_2, align 8
  %there1_3 = getelementptr i8, ptr %at1_3, i64 %eo1
  %here1_3 = getelementptr double, ptr %own1_3, i64 %e1
  %x1_3 = load double, ptr %there1_3, align 8
  store double %x1_3, ptr %here1_3, align 8
  %there1_4 = getelementptr i8, ptr %at1_4, i64 %eo1
  %here1_4 = getelementptr double, ptr %own1_4, i64 %e1
  %x1_4 = load double, ptr %there1_4, align 8
  store double %x1_4, ptr %here1_4, align 8
  %there1_5 = getelementptr i8, ptr %at1_5, i64 %eo1
  %here1_5 = getelementptr double, ptr %own1_5, i64 %e1
  %x1_5 = load double, ptr %there1_5, align 8
  store double %x1_5, ptr %here1_5, align 8
  %there1_6 = getelementptr i8, ptr %at1_6, i64 %eo1
  %here1_6 = getelementptr double, ptr %own1_6, i64 %e1
  %x1_6 = load double, ptr %there1_6, align 8
  store double %x1_6, ptr %here1_6, align 8
  %there1_7 = getelementptr i8, ptr %at1_7, i64 %eo1
  %here1_7 = getelementptr double, ptr %own1_7, i64 %e1
  %x1_7 = load double, ptr %there1_7, align 8
  store double %x1_7, ptr %here1_7, align 8
  %en1 = add i64 %e1, 1
  %ec1 = icmp slt i64 %en1, 1
  br i1 %ec1, label %each1, label %copied1
copied1:
  br label %point2
point2:
  %off2_0 = mul i64 %row0, %step2
  %at2_0 = getelementptr i8, ptr %base2, i64 %off2_0
  %slot2_0 = getelementptr ptr, ptr %in, i64 16
  store ptr %at2_0, ptr %slot2_0, align 8
  %off2_1 = mul i64 %row1, %step2
  %at2_1 = getelementptr i8, ptr %base2, i64 %off2_1
  %slot2_1 = getelementptr ptr, ptr %in, i64 17
  store ptr %at2_1, ptr %slot2_1, align 8
  %off2_2 = mul i64 %row2, %step2
  %at2_2 = getelementptr i8, ptr %base2, i64 %off2_2
  %slot2_2 = getelementptr ptr, ptr %in, i64 18
  store ptr %at2_2, ptr %slot2_2, align 8
  %off2_3 = mul i64 %row3, %step2
  %at2_3 = getelementptr i8, ptr %base2, i64 %off2_3
  %slot2_3 = getelementptr ptr, ptr %in, i64 19
  store ptr %at2_3, ptr %slot2_3, align 8
  %off2_4 = mul i64 %row4, %step2
  %at2_4 = getelementptr i8, ptr %base2, i64 %off2_4
  %slot2_4 = getelementptr ptr, ptr %in, i64 20
  store ptr %at2_4, ptr %slot2_4, align 8
  %off2_5 = mul i64 %row5, %step2
  %at2_5 = getelementptr i8, ptr %base2, i64 %off2_5
  %slot2_5 = getelementptr ptr, ptr %in, i64 21
  store ptr %at2_5, ptr %slot2_5, align 8
  %off2_6 = mul i64 %row6, %step2
  %at2_6 = getelementptr i8, ptr %base2, i64 %off2_6
  %slot2_6 = getelementptr ptr, ptr %in, i64 22
  store ptr %at2_6, ptr %slot2_6, align 8
  %off2_7 = mul i64 %row7, %step2
  %at2_7 = getelementptr i8, ptr %base2, i64 %off2_7
  %slot2_7 = getelementptr ptr, ptr %in, i64 23
  store ptr %at2_7, ptr %slot2_7, align 8
  br i1 %all2_0, label %point3, label %take2
take2:
  store ptr %own2_0, ptr %slot2_0, align 8
  store ptr %own2_1, ptr %slot2_1, align 8
  store ptr %own2_2, ptr %slot2_2, align 8
  store ptr %own2_3, ptr %slot2_3, align 8
  store ptr %own2_4, ptr %slot2_4, align 8
  store ptr %own2_5, ptr %slot2_5, align 8
  store ptr %own2_6, ptr %slot2_6, align 8
  store ptr %own2_7, ptr %slot2_7, align 8
  br label %each2
each2:
  %e2 = phi i64 [ 0, %take2 ], [ %en2, %each2 ]
  %em2 = mul i64 %e2, %core2_0
  %eo2 = add i64 0, %em2
  %there2_0 = getelementptr i8, ptr %at2_0, i64 %eo2
  %here2_0 = getelementptr double, ptr %own2_0, i64 %e2
  %x2_0 = load double, ptr %there2_0, align 8
  store double %x2_0, ptr %here2_0, align 8
  %there2_1 = getelementptr i8, ptr %at2_1, i64 %eo2
  %here2_1 = getelementptr double, ptr %own2_1, i64 %e2
  %x2_1 = load double, ptr %there2_1, align 8
  store double %x2_1, ptr %here2_1, align 8
  %there2_2 = getelementptr i8, ptr %at2_2, i64 %eo2
  %here2_2 = getelementptr double, ptr %own2_2, i64 %e2
  %x2_2 = load double, ptr %there2_2, align 8
  store double %x2_2, ptr %here2_2, align 8
  %there2_3 = getelementptr i8, ptr %at2_3, i64 %eo2
  %here2_3 = getelementptr double, ptr %own2_3, i64 %e2
  %x2_3 = load double, ptr %there2_3, align 8
  store double %x2_3, ptr %here2_3, align 8
  %there2_4 = getelementptr i8, ptr %at2_4, i64 %eo2
  %here2_4 = getelementptr double, ptr %own2_4, i64 %e2
  %x2_4 = load double, ptr %there2_4, align 8
  store double %x2_4, ptr %here2_4, align 8
  %there2_5 = getelementptr i8, ptr %at2_5, i64 %eo2
  %here2_5 = getelementptr double, ptr %own2_5, i64 %e2
  %x2_5 = load double, ptr %there2_5, align 8
  store double %x2_5, ptr %here2_5, align 8
  %there2_6 = getelementptr i8, ptr %at2_6, i64 %eo2
  %here2_6 = getelementptr double, ptr %own2_6, i64 %e2
  %x2_6 = load double, ptr %there2_6, align 8
  store double %x2_6, ptr %here2_6, align 8
  %there2_7 = getelementptr i8, ptr %at2_7, i64 %eo2
  %here2_7 = getelementptr double, ptr %own2_7, i64 %e2
  %x2_7 = load double, ptr %there2_7, align 8
  store double %x2_7, ptr %here2_7, align 8
  %en2 = add i64 %e2, 1
  %ec2 = icmp slt i64 %en2, 1
  br i1 %ec2, label %each2, label %copied2
copied2:
  br label %point3
point3:
  %off3_0 = mul i64 %row0, %step3
  %at3_0 = getelementptr i8, ptr %base3, i64 %off3_0
  %slot3_0 = getelementptr ptr, ptr %out, i64 0
  store ptr %at3_0, ptr %slot3_0, align 8
  %off3_1 = mul i64 %row1, %step3
  %at3_1 = getelementptr i8, ptr %base3, i64 %off3_1
  %slot3_1 = getelementptr ptr, ptr %out, i64 1
  store ptr %at3_1, ptr %slot3_1, align 8
  %off3_2 = mul i64 %row2, %step3
  %at3_2 = getelementptr i8, ptr %base3, i64 %off3_2
  %slot3_2 = getelementptr ptr, ptr %out, i64 2
  store ptr %at3_2, ptr %slot3_2, align 8
  %off3_3 = mul i64 %row3, %step3
  %at3_3 = getelementptr i8, ptr %base3, i64 %off3_3
  %slot3_3 = getelementptr ptr, ptr %out, i64 3
  store ptr %at3_3, ptr %slot3_3, align 8
  %off3_4 = mul i64 %row4, %step3
  %at3_4 = getelementptr i8, ptr %base3, i64 %off3_4
  %slot3_4 = getelementptr ptr, ptr %out, i64 4
  store ptr %at3_4, ptr %slot3_4, align 8
  %off3_5 = mul i64 %row5, %step3
  %at3_5 = getelementptr i8, ptr %base3, i64 %off3_5
  %slot3_5 = getelementptr ptr, ptr %out, i64 5
  store ptr %at3_5, ptr %slot3_5, align 8
  %off3_6 = mul i64 %row6, %step3
  %at3_6 = getelementptr i8, ptr %base3, i64 %off3_6
  %slot3_6 = getelementptr ptr, ptr %out, i64 6
  store ptr %at3_6, ptr %slot3_6, align 8
  %off3_7 = mul i64 %row7, %step3
  %at3_7 = getelementptr i8, ptr %base3, i64 %off3_7
  %slot3_7 = getelementptr ptr, ptr %out, i64 7
  store ptr %at3_7, ptr %slot3_7, align 8
  br i1 %all3_0, label %point4, label %take3
take3:
  store ptr %own3_0, ptr %slot3_0, align 8
  store ptr %own3_1, ptr %slot3_1, align 8
  store ptr %own3_2, ptr %slot3_2, align 8
  store ptr %own3_3, ptr %slot3_3, align 8
  store ptr %own3_4, ptr %slot3_4, align 8
  store ptr %own3_5, ptr %slot3_5, align 8
  store ptr %own3_6, ptr %slot3_6, align 8
  store ptr %own3_7, ptr %slot3_7, align 8
  br label %point4
point4:
  %finite = call i1 @body(ptr %in, ptr %out, ptr %frame)
  br i1 %finite, label %back3, label %trouble, !prof !1
trouble:
  %status = getelementptr i64, ptr %services, i64 5
  store i64 1, ptr %status, align 8
  br label %back3
back3:
  br i1 %all3_0, label %back4, label %give3
give3:
  br label %each3
each3:
  %e3 = phi i64 [ 0, %give3 ], [ %en3, %each3 ]
  %em3 = mul i64 %e3, %core3_0
  %eo3 = add i64 0, %em3
  %there3_0 = getelementptr i8, ptr %at3_0, i64 %eo3
  %here3_0 = getelementptr double, ptr %own3_0, i64 %e3
  %x3_0 = load double, ptr %here3_0, align 8
  store double %x3_0, ptr %there3_0, align 8
  %there3_1 = getelementptr i8, ptr %at3_1, i64 %eo3
  %here3_1 = getelementptr double, ptr %own3_1, i64 %e3
  %x3_1 = load double, ptr %here3_1, align 8
  store double %x3_1, ptr %there3_1, align 8
  %there3_2 = getelementptr i8, ptr %at3_2, i64 %eo3
  %here3_2 = getelementptr double, ptr %own3_2, i64 %e3
  %x3_2 = load double, ptr %here3_2, align 8
  store double %x3_2, ptr %there3_2, align 8
  %there3_3 = getelementptr i8, ptr %at3_3, i64 %eo3
  %here3_3 = getelementptr double, ptr %own3_3, i64 %e3
  %x3_3 = load double, ptr %here3_3, align 8
  store double %x3_3, ptr %there3_3, align 8
  %there3_4 = getelementptr i8, ptr %at3_4, i64 %eo3
  %here3_4 = getelementptr double, ptr %own3_4, i64 %e3
  %x3_4 = load double, ptr %here3_4, align 8
  store double %x3_4, ptr %there3_4, align 8
  %there3_5 = getelementptr i8, ptr %at3_5, i64 %eo3
  %here3_5 = getelementptr double, ptr %own3_5, i64 %e3
  %x3_5 = load double, ptr %here3_5, align 8
  store double %x3_5, ptr %there3_5, align 8
  %there3_6 = getelementptr i8, ptr %at3_6, i64 %eo3
  %here3_6 = getelementptr double, ptr %own3_6, i64 %e3
  %x3_6 = load double, ptr %here3_6, align 8
  store double %x3_6, ptr %there3_6, align 8
  %there3_7 = getelementptr i8, ptr %at3_7, i64 %eo3
  %here3_7 = getelementptr double, ptr %own3_7, i64 %e3
  %x3_7 = load double, ptr %here3_7, align 8
  store double %x3_7, ptr %there3_7, align 8
  %en3 = add i64 %e3, 1
  %ec3 = icmp slt i64 %en3, 2
  br i1 %ec3, label %each3, label %copied3
copied3:
  br label %back4
back4:
  br label %after
after:
  %next = add i64 %i, 8
  br label %head
}
!0 = !{!"branch_weights", i32 1, i32 100000}
!1 = !{!"branch_weights", i32 100000, i32 1}