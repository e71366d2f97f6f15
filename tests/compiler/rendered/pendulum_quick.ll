@table = internal global [22 x <4 x double>] [<4 x double> <double 0x4202A05F20000000, double 0x4202A05F20000000, double 0x4202A05F20000000, double 0x4202A05F20000000>, <4 x double> <double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883>, <4 x double> <double 0x4338000000000000, double 0x4338000000000000, double 0x4338000000000000, double 0x4338000000000000>, <4 x double> <double 0x3FF921FB54442D18, double 0x3FF921FB54442D18, double 0x3FF921FB54442D18, double 0x3FF921FB54442D18>, <4 x double> <double 0x3C91A62633145C06, double 0x3C91A62633145C06, double 0x3C91A62633145C06, double 0x3C91A62633145C06>, <4 x double> <double 0x394C1CD129024E08, double 0x394C1CD129024E08, double 0x394C1CD129024E08, double 0x394C1CD129024E08>, <4 x double> <double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD>, <4 x double> <double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D>, <4 x double> <double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1>, <4 x double> <double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03>, <4 x double> <double 0x3F8111111110F7D0, double 0x3F8111111110F7D0, double 0x3F8111111110F7D0, double 0x3F8111111110F7D0>, <4 x double> <double 0x3FC5555555555548, double 0x3FC5555555555548, double 0x3FC5555555555548, double 0x3FC5555555555548>, <4 x double> <double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B>, <4 x double> <double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05>, <4 x double> <double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6>, <4 x double> <double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5>, <4 x double> <double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91>, <4 x double> <double 0x3FA555555555554B, double 0x3FA555555555554B, double 0x3FA555555555554B, double 0x3FA555555555554B>, <4 x double> <double 0x3FE0000000000000, double 0x3FE0000000000000, double 0x3FE0000000000000, double 0x3FE0000000000000>, <4 x double> <double 0x3FF0000000000000, double 0x3FF0000000000000, double 0x3FF0000000000000, double 0x3FF0000000000000>, <4 x double> <double 0x40239EB851EB851F, double 0x40239EB851EB851F, double 0x40239EB851EB851F, double 0x40239EB851EB851F>, <4 x double> <double 0x3FB999999999999A, double 0x3FB999999999999A, double 0x3FB999999999999A, double 0x3FB999999999999A>], align 64
declare <4 x double> @llvm.fma.v4f64(<4 x double>, <4 x double>, <4 x double>)
declare <4 x double> @llvm.sqrt.v4f64(<4 x double>)
declare <4 x double> @llvm.fabs.v4f64(<4 x double>)
declare <4 x double> @llvm.floor.v4f64(<4 x double>)
declare <4 x double> @llvm.minimum.v4f64(<4 x double>, <4 x double>)
declare <4 x double> @llvm.maximum.v4f64(<4 x double>, <4 x double>)
declare <4 x double> @llvm.copysign.v4f64(<4 x double>, <4 x double>)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <4 x double> @llvm.masked.load.v4f64.p0(ptr, i32, <4 x i1>, <4 x double>)
declare void @llvm.masked.store.v4f64.p0(<4 x double>, ptr, i32, <4 x i1>)
declare double @llvm.fabs.f64(double)
declare i1 @llvm.vector.reduce.or.v4i1(<4 x i1>)
declare double @sin(double)
declare double @cos(double)
declare double @asin(double)
declare double @acos(double)
declare double @exp(double)
declare double @log(double)
declare double @tanh(double)
declare double @atan2(double, double)
declare double @pow(double, double)
define internal <4 x double> @slow_angle(<4 x double> %x) cold noinline {
entry:
  br label %lane
lane:
  %k = phi i32 [ 0, %entry ], [ %next, %lane ]
  %before = phi <4 x double> [ %x, %entry ], [ %after, %lane ]
  %angle = extractelement <4 x double> %x, i32 %k
  %size = call double @llvm.fabs.f64(double %angle)
  %far = fcmp ogt double %size, 0x40F86A0000000000
  %s = call double @sin(double %angle)
  %c = call double @cos(double %angle)
  %a = call double @atan2(double %s, double %c)
  %near = select i1 %far, double %a, double %angle
  %after = insertelement <4 x double> %before, double %near, i32 %k
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, 4
  br i1 %more, label %lane, label %done
done:
  ret <4 x double> %after
}
define internal void @gather0(ptr noalias %in, ptr noalias %frame) {
entry:
  %r1 = getelementptr ptr, ptr %in, i64 0
  %r2 = getelementptr ptr, ptr %in, i64 1
  %r3 = getelementptr ptr, ptr %in, i64 2
  %r4 = getelementptr ptr, ptr %in, i64 3
  %r5 = load ptr, ptr %r1, align 8
  %r6 = load ptr, ptr %r2, align 8
  %r7 = load ptr, ptr %r3, align 8
  %r8 = load ptr, ptr %r4, align 8
  br label %element
element:
  %e = phi i64 [ 0, %entry ], [ %e1, %element ]
  %before = phi <4 x double> [ zeroinitializer, %entry ], [ %total, %element ]
  %r9 = getelementptr <4 x double>, ptr %frame, i64 %e
  %r10 = getelementptr double, ptr %r5, i64 %e
  %r11 = load double, ptr %r10, align 8
  %r12 = insertelement <4 x double> poison, double %r11, i32 0
  %r13 = getelementptr double, ptr %r6, i64 %e
  %r14 = load double, ptr %r13, align 8
  %r15 = insertelement <4 x double> %r12, double %r14, i32 1
  %r16 = getelementptr double, ptr %r7, i64 %e
  %r17 = load double, ptr %r16, align 8
  %r18 = insertelement <4 x double> %r15, double %r17, i32 2
  %r19 = getelementptr double, ptr %r8, i64 %e
  %r20 = load double, ptr %r19, align 8
  %r21 = insertelement <4 x double> %r18, double %r20, i32 3
  %r22 = getelementptr <4 x double>, ptr %r9, i64 1
  store <4 x double> %r21, ptr %r22, align 32
  %total = fadd <4 x double> %before, zeroinitializer
  %e1 = add i64 %e, 1
  %again = icmp slt i64 %e1, 2
  br i1 %again, label %element, label %done
done:
  ret void
}
define internal void @gather1(ptr noalias %in, ptr noalias %frame) {
entry:
  %r1 = getelementptr ptr, ptr %in, i64 4
  %r2 = getelementptr ptr, ptr %in, i64 5
  %r3 = getelementptr ptr, ptr %in, i64 6
  %r4 = getelementptr ptr, ptr %in, i64 7
  %r5 = load ptr, ptr %r1, align 8
  %r6 = load ptr, ptr %r2, align 8
  %r7 = load ptr, ptr %r3, align 8
  %r8 = load ptr, ptr %r4, align 8
  %r9 = getelementptr double, ptr %r5, i64 0
  %r10 = load double, ptr %r9, align 8
  %r11 = insertelement <4 x double> poison, double %r10, i32 0
  %r12 = getelementptr double, ptr %r6, i64 0
  %r13 = load double, ptr %r12, align 8
  %r14 = insertelement <4 x double> %r11, double %r13, i32 1
  %r15 = getelementptr double, ptr %r7, i64 0
  %r16 = load double, ptr %r15, align 8
  %r17 = insertelement <4 x double> %r14, double %r16, i32 2
  %r18 = getelementptr double, ptr %r8, i64 0
  %r19 = load double, ptr %r18, align 8
  %r20 = insertelement <4 x double> %r17, double %r19, i32 3
  %r21 = getelementptr <4 x double>, ptr %frame, i64 3
  store <4 x double> %r20, ptr %r21, align 32
  ret void
}
define internal void @gather2(ptr noalias %in, ptr noalias %frame) {
entry:
  %r1 = getelementptr ptr, ptr %in, i64 8
  %r2 = getelementptr ptr, ptr %in, i64 9
  %r3 = getelementptr ptr, ptr %in, i64 10
  %r4 = getelementptr ptr, ptr %in, i64 11
  %r5 = load ptr, ptr %r1, align 8
  %r6 = load ptr, ptr %r2, align 8
  %r7 = load ptr, ptr %r3, align 8
  %r8 = load ptr, ptr %r4, align 8
  %r9 = getelementptr double, ptr %r5, i64 0
  %r10 = load double, ptr %r9, align 8
  %r11 = insertelement <4 x double> poison, double %r10, i32 0
  %r12 = getelementptr double, ptr %r6, i64 0
  %r13 = load double, ptr %r12, align 8
  %r14 = insertelement <4 x double> %r11, double %r13, i32 1
  %r15 = getelementptr double, ptr %r7, i64 0
  %r16 = load double, ptr %r15, align 8
  %r17 = insertelement <4 x double> %r14, double %r16, i32 2
  %r18 = getelementptr double, ptr %r8, i64 0
  %r19 = load double, ptr %r18, align 8
  %r20 = insertelement <4 x double> %r17, double %r19, i32 3
  %r21 = getelementptr <4 x double>, ptr %frame, i64 4
  store <4 x double> %r20, ptr %r21, align 32
  ret void
}
define internal void @scatter0(ptr noalias %out, ptr noalias %frame) {
entry:
  %r1 = getelementptr ptr, ptr %out, i64 0
  %r2 = getelementptr ptr, ptr %out, i64 1
  %r3 = getelementptr ptr, ptr %out, i64 2
  %r4 = getelementptr ptr, ptr %out, i64 3
  %r5 = load ptr, ptr %r1, align 8
  %r6 = load ptr, ptr %r2, align 8
  %r7 = load ptr, ptr %r3, align 8
  %r8 = load ptr, ptr %r4, align 8
  br label %element
element:
  %e = phi i64 [ 0, %entry ], [ %e1, %element ]
  %before = phi <4 x double> [ zeroinitializer, %entry ], [ %total, %element ]
  %r9 = getelementptr <4 x double>, ptr %frame, i64 %e
  %r10 = getelementptr <4 x double>, ptr %r9, i64 5
  %r11 = load <4 x double>, ptr %r10, align 32
  %r12 = extractelement <4 x double> %r11, i32 0
  %r13 = getelementptr double, ptr %r5, i64 %e
  store double %r12, ptr %r13, align 8
  %r14 = extractelement <4 x double> %r11, i32 1
  %r15 = getelementptr double, ptr %r6, i64 %e
  store double %r14, ptr %r15, align 8
  %r16 = extractelement <4 x double> %r11, i32 2
  %r17 = getelementptr double, ptr %r7, i64 %e
  store double %r16, ptr %r17, align 8
  %r18 = extractelement <4 x double> %r11, i32 3
  %r19 = getelementptr double, ptr %r8, i64 %e
  store double %r18, ptr %r19, align 8
  %total = fadd <4 x double> %before, zeroinitializer
  %e1 = add i64 %e, 1
  %again = icmp slt i64 %e1, 2
  br i1 %again, label %element, label %done
done:
  ret void
}
define internal void @part0_0(ptr noalias %frame, i64 %turn) {
entry:
  %r1 = getelementptr <4 x double>, ptr %frame, i64 2
  %r2 = load volatile <4 x double>, ptr %r1, align 32
  %r3 = getelementptr <4 x double>, ptr %frame, i64 5
  store volatile <4 x double> %r2, ptr %r3, align 32
  %r4 = getelementptr <4 x double>, ptr %frame, i64 1
  %r5 = load volatile <4 x double>, ptr %r4, align 32
  %r6 = fmul <4 x double> %r5, %r5
  %r7 = getelementptr <4 x double>, ptr @table, i64 0
  %r8 = load volatile <4 x double>, ptr %r7, align 32
  %r9 = fcmp ogt <4 x double> %r6, %r8
  %r10 = call i1 @llvm.vector.reduce.or.v4i1(<4 x i1> %r9)
  br i1 %r10, label %far10, label %near10, !prof !0
far10:
  %r11 = call <4 x double> @slow_angle(<4 x double> %r5)
  br label %near10
near10:
  %r12 = phi <4 x double> [ %r5, %entry ], [ %r11, %far10 ]
  %r13 = getelementptr <4 x double>, ptr @table, i64 1
  %r14 = load volatile <4 x double>, ptr %r13, align 32
  %r15 = getelementptr <4 x double>, ptr @table, i64 2
  %r16 = load volatile <4 x double>, ptr %r15, align 32
  %r17 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r12, <4 x double> %r14, <4 x double> %r16)
  %r18 = getelementptr <4 x double>, ptr @table, i64 2
  %r19 = load volatile <4 x double>, ptr %r18, align 32
  %r20 = fsub <4 x double> %r17, %r19
  %r21 = getelementptr <4 x double>, ptr @table, i64 3
  %r22 = load volatile <4 x double>, ptr %r21, align 32
  %r23 = fneg <4 x double> %r20
  %r24 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r23, <4 x double> %r22, <4 x double> %r12)
  %r25 = getelementptr <4 x double>, ptr @table, i64 4
  %r26 = load volatile <4 x double>, ptr %r25, align 32
  %r27 = fneg <4 x double> %r20
  %r28 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r27, <4 x double> %r26, <4 x double> %r24)
  %r29 = getelementptr <4 x double>, ptr @table, i64 5
  %r30 = load volatile <4 x double>, ptr %r29, align 32
  %r31 = fneg <4 x double> %r20
  %r32 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r31, <4 x double> %r30, <4 x double> %r28)
  %r33 = fmul <4 x double> %r32, %r32
  %r34 = getelementptr <4 x double>, ptr @table, i64 6
  %r35 = load volatile <4 x double>, ptr %r34, align 32
  %r36 = getelementptr <4 x double>, ptr @table, i64 7
  %r37 = load volatile <4 x double>, ptr %r36, align 32
  %r38 = fneg <4 x double> %r35
  %r39 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r38, <4 x double> %r33, <4 x double> %r37)
  %r40 = getelementptr <4 x double>, ptr @table, i64 8
  %r41 = load volatile <4 x double>, ptr %r40, align 32
  %r42 = fneg <4 x double> %r39
  %r43 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r42, <4 x double> %r33, <4 x double> %r41)
  %r44 = getelementptr <4 x double>, ptr @table, i64 9
  %r45 = load volatile <4 x double>, ptr %r44, align 32
  %r46 = fneg <4 x double> %r43
  %r47 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r46, <4 x double> %r33, <4 x double> %r45)
  %r48 = getelementptr <4 x double>, ptr @table, i64 10
  %r49 = load volatile <4 x double>, ptr %r48, align 32
  %r50 = fneg <4 x double> %r47
  %r51 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r50, <4 x double> %r33, <4 x double> %r49)
  %r52 = getelementptr <4 x double>, ptr @table, i64 11
  %r53 = load volatile <4 x double>, ptr %r52, align 32
  %r54 = fneg <4 x double> %r51
  %r55 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r54, <4 x double> %r33, <4 x double> %r53)
  %r56 = fmul <4 x double> %r55, %r33
  %r57 = fneg <4 x double> %r56
  %r58 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r57, <4 x double> %r32, <4 x double> %r32)
  %r59 = getelementptr <4 x double>, ptr @table, i64 12
  %r60 = load volatile <4 x double>, ptr %r59, align 32
  %r61 = getelementptr <4 x double>, ptr @table, i64 13
  %r62 = load volatile <4 x double>, ptr %r61, align 32
  %r63 = fneg <4 x double> %r60
  %r64 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r63, <4 x double> %r33, <4 x double> %r62)
  %r65 = getelementptr <4 x double>, ptr @table, i64 14
  %r66 = load volatile <4 x double>, ptr %r65, align 32
  %r67 = fneg <4 x double> %r64
  %r68 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r67, <4 x double> %r33, <4 x double> %r66)
  %r69 = getelementptr <4 x double>, ptr @table, i64 15
  %r70 = load volatile <4 x double>, ptr %r69, align 32
  %r71 = fneg <4 x double> %r68
  %r72 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r71, <4 x double> %r33, <4 x double> %r70)
  %r73 = getelementptr <4 x double>, ptr @table, i64 16
  %r74 = load volatile <4 x double>, ptr %r73, align 32
  %r75 = fneg <4 x double> %r72
  %r76 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r75, <4 x double> %r33, <4 x double> %r74)
  %r77 = getelementptr <4 x double>, ptr @table, i64 17
  %r78 = load volatile <4 x double>, ptr %r77, align 32
  %r79 = fneg <4 x double> %r76
  %r80 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r79, <4 x double> %r33, <4 x double> %r78)
  %r81 = getelementptr <4 x double>, ptr @table, i64 18
  %r82 = load volatile <4 x double>, ptr %r81, align 32
  %r83 = fneg <4 x double> %r80
  %r84 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r83, <4 x double> %r33, <4 x double> %r82)
  %r85 = getelementptr <4 x double>, ptr @table, i64 19
  %r86 = load volatile <4 x double>, ptr %r85, align 32
  %r87 = fneg <4 x double> %r84
  %r88 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r87, <4 x double> %r33, <4 x double> %r86)
  %r89 = bitcast <4 x double> %r17 to <4 x i64>
  %r90 = and <4 x i64> %r89, <i64 1, i64 1, i64 1, i64 1>
  %r91 = bitcast <4 x i64> %r90 to <4 x double>
  %r92 = bitcast <4 x double> %r17 to <4 x i64>
  %r93 = shl <4 x i64> %r92, <i64 62, i64 62, i64 62, i64 62>
  %r94 = bitcast <4 x i64> %r93 to <4 x double>
  %r95 = bitcast <4 x double> %r94 to <4 x i64>
  %r96 = and <4 x i64> %r95, <i64 -9223372036854775808, i64 -9223372036854775808, i64 -9223372036854775808, i64 -9223372036854775808>
  %r97 = bitcast <4 x i64> %r96 to <4 x double>
  %r98 = bitcast <4 x double> %r58 to <4 x i64>
  %r99 = bitcast <4 x double> %r97 to <4 x i64>
  %r100 = xor <4 x i64> %r98, %r99
  %r101 = bitcast <4 x i64> %r100 to <4 x double>
  %r102 = bitcast <4 x double> %r88 to <4 x i64>
  %r103 = bitcast <4 x double> %r97 to <4 x i64>
  %r104 = xor <4 x i64> %r102, %r103
  %r105 = bitcast <4 x i64> %r104 to <4 x double>
  %r106 = bitcast <4 x double> %r91 to <4 x i64>
  %r107 = icmp ne <4 x i64> %r106, zeroinitializer
  %r108 = select <4 x i1> %r107, <4 x double> %r105, <4 x double> %r101
  %r109 = bitcast <4 x double> %r91 to <4 x i64>
  %r110 = icmp ne <4 x i64> %r109, zeroinitializer
  %r111 = fneg <4 x double> %r101
  %r112 = select <4 x i1> %r110, <4 x double> %r111, <4 x double> %r105
  %r113 = getelementptr <4 x double>, ptr %frame, i64 2
  %r114 = load volatile <4 x double>, ptr %r113, align 32
  %r115 = fmul <4 x double> %r114, %r112
  %r116 = getelementptr <4 x double>, ptr @table, i64 20
  %r117 = load volatile <4 x double>, ptr %r116, align 32
  %r118 = fmul <4 x double> %r117, %r108
  %r119 = getelementptr <4 x double>, ptr @table, i64 21
  %r120 = load volatile <4 x double>, ptr %r119, align 32
  %r121 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r120, <4 x double> %r115, <4 x double> %r118)
  %r122 = fneg <4 x double> %r121
  %r123 = getelementptr <4 x double>, ptr %frame, i64 6
  store volatile <4 x double> %r122, ptr %r123, align 32
  ret void
}
define internal i1 @body(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {
entry:
  call void @gather0(ptr %in, ptr %frame)
  call void @gather1(ptr %in, ptr %frame)
  call void @gather2(ptr %in, ptr %frame)
  call void @part0_0(ptr %frame, i64 0)
  call void @scatter0(ptr %out, ptr %frame)
  ret i1 true
}
define internal void @prepare(ptr noalias %frame) {
entry:
  ret void
}
define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %services) {
entry:
  %in = alloca [12 x ptr], align 64
  %out = alloca [4 x ptr], align 64
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
  %copies = alloca [192 x i8], align 64
  %frame = alloca [224 x i8], align 64
  br label %start
done:
  ret void
start:
  %own0_0 = getelementptr i8, ptr %copies, i64 0
  %own0_1 = getelementptr i8, ptr %copies, i64 16
  %own0_2 = getelementptr i8, ptr %copies, i64 32
  %own0_3 = getelementptr i8, ptr %copies, i64 48
  %own1_0 = getelementptr i8, ptr %copies, i64 64
  %own1_1 = getelementptr i8, ptr %copies, i64 72
  %own1_2 = getelementptr i8, ptr %copies, i64 80
  %own1_3 = getelementptr i8, ptr %copies, i64 88
  %own2_0 = getelementptr i8, ptr %copies, i64 96
  %own2_1 = getelementptr i8, ptr %copies, i64 104
  %own2_2 = getelementptr i8, ptr %copies, i64 112
  %own2_3 = getelementptr i8, ptr %copies, i64 120
  %own3_0 = getelementptr i8, ptr %copies, i64 128
  %own3_1 = getelementptr i8, ptr %copies, i64 144
  %own3_2 = getelementptr i8, ptr %copies, i64 160
  %own3_3 = getelementptr i8, ptr %copies, i64 176
  call void @prepare(ptr %frame)
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
  %later3 = add i64 %i, 128
  %laterat3 = mul i64 %later3, %step3
  %fetch3 = getelementptr i8, ptr %base3, i64 %laterat3
  br label %fetching3
fetching3:
  %f3 = phi i64 [ 0, %lanes ], [ %fn3, %fetching3 ]
  %fo3_0 = add i64 %f3, 0
  %fl3_0 = getelementptr i8, ptr %fetch3, i64 %fo3_0
  call void @llvm.prefetch.p0(ptr %fl3_0, i32 1, i32 3, i32 1)
  %fn3 = add i64 %f3, 512
  %fc3 = icmp slt i64 %fn3, 64
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
  br i1 %all0_0, label %point1, label %take0
take0:
  store ptr %own0_0, ptr %slot0_0, align 8
  store ptr %own0_1, ptr %slot0_1, align 8
  store ptr %own0_2, ptr %slot0_2, align 8
  store ptr %own0_3, ptr %slot0_3, align 8
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
  %en0 = add i64 %e0, 1
  %ec0 = icmp slt i64 %en0, 2
  br i1 %ec0, label %each0, label %copied0
copied0:
  br label %point1
point1:
  %off1_0 = mul i64 %row0, %step1
  %at1_0 = getelementptr i8, ptr %base1, i64 %off1_0
  %slot1_0 = getelementptr ptr, ptr %in, i64 4
  store ptr %at1_0, ptr %slot1_0, align 8
  %off1_1 = mul i64 %row1, %step1
  %at1_1 = getelementptr i8, ptr %base1, i64 %off1_1
  %slot1_1 = getelementptr ptr, ptr %in, i64 5
  store ptr %at1_1, ptr %slot1_1, align 8
  %off1_2 = mul i64 %row2, %step1
  %at1_2 = getelementptr i8, ptr %base1, i64 %off1_2
  %slot1_2 = getelementptr ptr, ptr %in, i64 6
  store ptr %at1_2, ptr %slot1_2, align 8
  %off1_3 = mul i64 %row3, %step1
  %at1_3 = getelementptr i8, ptr %base1, i64 %off1_3
  %slot1_3 = getelementptr ptr, ptr %in, i64 7
  store ptr %at1_3, ptr %slot1_3, align 8
  br i1 %all1_0, label %point2, label %take1
take1:
  store ptr %own1_0, ptr %slot1_0, align 8
  store ptr %own1_1, ptr %slot1_1, align 8
  store ptr %own1_2, ptr %slot1_2, align 8
  store ptr %own1_3, ptr %slot1_3, align 8
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
  %en1 = add i64 %e1, 1
  %ec1 = icmp slt i64 %en1, 1
  br i1 %ec1, label %each1, label %copied1
copied1:
  br label %point2
point2:
  %off2_0 = mul i64 %row0, %step2
  %at2_0 = getelementptr i8, ptr %base2, i64 %off2_0
  %slot2_0 = getelementptr ptr, ptr %in, i64 8
  store ptr %at2_0, ptr %slot2_0, align 8
  %off2_1 = mul i64 %row1, %step2
  %at2_1 = getelementptr i8, ptr %base2, i64 %off2_1
  %slot2_1 = getelementptr ptr, ptr %in, i64 9
  store ptr %at2_1, ptr %slot2_1, align 8
  %off2_2 = mul i64 %row2, %step2
  %at2_2 = getelementptr i8, ptr %base2, i64 %off2_2
  %slot2_2 = getelementptr ptr, ptr %in, i64 10
  store ptr %at2_2, ptr %slot2_2, align 8
  %off2_3 = mul i64 %row3, %step2
  %at2_3 = getelementptr i8, ptr %base2, i64 %off2_3
  %slot2_3 = getelementptr ptr, ptr %in, i64 11
  store ptr %at2_3, ptr %slot2_3, align 8
  br i1 %all2_0, label %point3, label %take2
take2:
  store ptr %own2_0, ptr %slot2_0, align 8
  store ptr %own2_1, ptr %slot2_1, align 8
  store ptr %own2_2, ptr %slot2_2, align 8
  store ptr %own2_3, ptr %slot2_3, align 8
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
  br i1 %all3_0, label %point4, label %take3
take3:
  store ptr %own3_0, ptr %slot3_0, align 8
  store ptr %own3_1, ptr %slot3_1, align 8
  store ptr %own3_2, ptr %slot3_2, align 8
  store ptr %own3_3, ptr %slot3_3, align 8
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
  %en3 = add i64 %e3, 1
  %ec3 = icmp slt i64 %en3, 2
  br i1 %ec3, label %each3, label %copied3
copied3:
  br label %back4
back4:
  br label %after
after:
  %next = add i64 %i, 4
  br label %head
}
!0 = !{!"branch_weights", i32 1, i32 100000}
!1 = !{!"branch_weights", i32 100000, i32 1}