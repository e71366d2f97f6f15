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
define internal <4 x double> @slow_angle(<4 x double> %x) cold noinline {
  %x0 = extractelement <4 x double> %x, i32 0
  %size0 = call double @llvm.fabs.f64(double %x0)
  %far0 = fcmp ogt double %size0, 0x40F86A0000000000
  %s0 = call double @sin(double %x0)
  %c0 = call double @cos(double %x0)
  %a0 = call double @atan2(double %s0, double %c0)
  %y0 = select i1 %far0, double %a0, double %x0
  %v0 = insertelement <4 x double> poison, double %y0, i32 0
  %x1 = extractelement <4 x double> %x, i32 1
  %size1 = call double @llvm.fabs.f64(double %x1)
  %far1 = fcmp ogt double %size1, 0x40F86A0000000000
  %s1 = call double @sin(double %x1)
  %c1 = call double @cos(double %x1)
  %a1 = call double @atan2(double %s1, double %c1)
  %y1 = select i1 %far1, double %a1, double %x1
  %v1 = insertelement <4 x double> %v0, double %y1, i32 1
  %x2 = extractelement <4 x double> %x, i32 2
  %size2 = call double @llvm.fabs.f64(double %x2)
  %far2 = fcmp ogt double %size2, 0x40F86A0000000000
  %s2 = call double @sin(double %x2)
  %c2 = call double @cos(double %x2)
  %a2 = call double @atan2(double %s2, double %c2)
  %y2 = select i1 %far2, double %a2, double %x2
  %v2 = insertelement <4 x double> %v1, double %y2, i32 2
  %x3 = extractelement <4 x double> %x, i32 3
  %size3 = call double @llvm.fabs.f64(double %x3)
  %far3 = fcmp ogt double %size3, 0x40F86A0000000000
  %s3 = call double @sin(double %x3)
  %c3 = call double @cos(double %x3)
  %a3 = call double @atan2(double %s3, double %c3)
  %y3 = select i1 %far3, double %a3, double %x3
  %v3 = insertelement <4 x double> %v2, double %y3, i32 3
  ret <4 x double> %v3
}
define internal void @segment0(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {
entry:
  %r1 = getelementptr ptr, ptr %in, i64 0
  %r2 = load ptr, ptr %r1, align 8
  %r3 = getelementptr double, ptr %r2, i64 1
  %r4 = load double, ptr %r3, align 8
  %r5 = insertelement <4 x double> poison, double %r4, i32 0
  %r6 = getelementptr ptr, ptr %in, i64 1
  %r7 = load ptr, ptr %r6, align 8
  %r8 = getelementptr double, ptr %r7, i64 1
  %r9 = load double, ptr %r8, align 8
  %r10 = insertelement <4 x double> %r5, double %r9, i32 1
  %r11 = getelementptr ptr, ptr %in, i64 2
  %r12 = load ptr, ptr %r11, align 8
  %r13 = getelementptr double, ptr %r12, i64 1
  %r14 = load double, ptr %r13, align 8
  %r15 = insertelement <4 x double> %r10, double %r14, i32 2
  %r16 = getelementptr ptr, ptr %in, i64 3
  %r17 = load ptr, ptr %r16, align 8
  %r18 = getelementptr double, ptr %r17, i64 1
  %r19 = load double, ptr %r18, align 8
  %r20 = insertelement <4 x double> %r15, double %r19, i32 3
  %r21 = extractelement <4 x double> %r20, i32 0
  %r22 = getelementptr ptr, ptr %out, i64 0
  %r23 = load ptr, ptr %r22, align 8
  store double %r21, ptr %r23, align 8
  %r24 = extractelement <4 x double> %r20, i32 1
  %r25 = getelementptr ptr, ptr %out, i64 1
  %r26 = load ptr, ptr %r25, align 8
  store double %r24, ptr %r26, align 8
  %r27 = extractelement <4 x double> %r20, i32 2
  %r28 = getelementptr ptr, ptr %out, i64 2
  %r29 = load ptr, ptr %r28, align 8
  store double %r27, ptr %r29, align 8
  %r30 = extractelement <4 x double> %r20, i32 3
  %r31 = getelementptr ptr, ptr %out, i64 3
  %r32 = load ptr, ptr %r31, align 8
  store double %r30, ptr %r32, align 8
  %r33 = load double, ptr %r2, align 8
  %r34 = insertelement <4 x double> poison, double %r33, i32 0
  %r35 = load double, ptr %r7, align 8
  %r36 = insertelement <4 x double> %r34, double %r35, i32 1
  %r37 = load double, ptr %r12, align 8
  %r38 = insertelement <4 x double> %r36, double %r37, i32 2
  %r39 = load double, ptr %r17, align 8
  %r40 = insertelement <4 x double> %r38, double %r39, i32 3
  %r41 = getelementptr <4 x double>, ptr %frame, i64 1
  store volatile <4 x double> %r20, ptr %r41, align 32
  %r42 = fmul <4 x double> %r40, %r40
  %r43 = getelementptr <4 x double>, ptr @table, i64 0
  %r44 = load volatile <4 x double>, ptr %r43, align 32
  %r45 = fcmp ogt <4 x double> %r42, %r44
  %r46 = call i1 @llvm.vector.reduce.or.v4i1(<4 x i1> %r45)
  br i1 %r46, label %far46, label %near46, !prof !0
far46:
  %r47 = call <4 x double> @slow_angle(<4 x double> %r40)
  br label %near46
near46:
  %r48 = phi <4 x double> [ %r40, %entry ], [ %r47, %far46 ]
  %r49 = getelementptr <4 x double>, ptr @table, i64 1
  %r50 = load volatile <4 x double>, ptr %r49, align 32
  %r51 = getelementptr <4 x double>, ptr @table, i64 2
  %r52 = load volatile <4 x double>, ptr %r51, align 32
  %r53 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r48, <4 x double> %r50, <4 x double> %r52)
  %r54 = getelementptr <4 x double>, ptr @table, i64 2
  %r55 = load volatile <4 x double>, ptr %r54, align 32
  %r56 = fsub <4 x double> %r53, %r55
  %r57 = getelementptr <4 x double>, ptr @table, i64 3
  %r58 = load volatile <4 x double>, ptr %r57, align 32
  %r59 = fneg <4 x double> %r56
  %r60 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r59, <4 x double> %r58, <4 x double> %r48)
  %r61 = getelementptr <4 x double>, ptr @table, i64 4
  %r62 = load volatile <4 x double>, ptr %r61, align 32
  %r63 = fneg <4 x double> %r56
  %r64 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r63, <4 x double> %r62, <4 x double> %r60)
  %r65 = getelementptr <4 x double>, ptr @table, i64 5
  %r66 = load volatile <4 x double>, ptr %r65, align 32
  %r67 = fneg <4 x double> %r56
  %r68 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r67, <4 x double> %r66, <4 x double> %r64)
  %r69 = fmul <4 x double> %r68, %r68
  %r70 = getelementptr <4 x double>, ptr @table, i64 6
  %r71 = load volatile <4 x double>, ptr %r70, align 32
  %r72 = getelementptr <4 x double>, ptr @table, i64 7
  %r73 = load volatile <4 x double>, ptr %r72, align 32
  %r74 = fneg <4 x double> %r71
  %r75 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r74, <4 x double> %r69, <4 x double> %r73)
  %r76 = getelementptr <4 x double>, ptr @table, i64 8
  %r77 = load volatile <4 x double>, ptr %r76, align 32
  %r78 = fneg <4 x double> %r75
  %r79 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r78, <4 x double> %r69, <4 x double> %r77)
  %r80 = getelementptr <4 x double>, ptr @table, i64 9
  %r81 = load volatile <4 x double>, ptr %r80, align 32
  %r82 = fneg <4 x double> %r79
  %r83 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r82, <4 x double> %r69, <4 x double> %r81)
  %r84 = getelementptr <4 x double>, ptr @table, i64 10
  %r85 = load volatile <4 x double>, ptr %r84, align 32
  %r86 = fneg <4 x double> %r83
  %r87 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r86, <4 x double> %r69, <4 x double> %r85)
  %r88 = getelementptr <4 x double>, ptr @table, i64 11
  %r89 = load volatile <4 x double>, ptr %r88, align 32
  %r90 = fneg <4 x double> %r87
  %r91 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r90, <4 x double> %r69, <4 x double> %r89)
  %r92 = fmul <4 x double> %r91, %r69
  %r93 = fneg <4 x double> %r92
  %r94 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r93, <4 x double> %r68, <4 x double> %r68)
  %r95 = getelementptr <4 x double>, ptr @table, i64 12
  %r96 = load volatile <4 x double>, ptr %r95, align 32
  %r97 = getelementptr <4 x double>, ptr @table, i64 13
  %r98 = load volatile <4 x double>, ptr %r97, align 32
  %r99 = fneg <4 x double> %r96
  %r100 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r99, <4 x double> %r69, <4 x double> %r98)
  %r101 = getelementptr <4 x double>, ptr @table, i64 14
  %r102 = load volatile <4 x double>, ptr %r101, align 32
  %r103 = fneg <4 x double> %r100
  %r104 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r103, <4 x double> %r69, <4 x double> %r102)
  %r105 = getelementptr <4 x double>, ptr @table, i64 15
  %r106 = load volatile <4 x double>, ptr %r105, align 32
  %r107 = fneg <4 x double> %r104
  %r108 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r107, <4 x double> %r69, <4 x double> %r106)
  %r109 = getelementptr <4 x double>, ptr @table, i64 16
  %r110 = load volatile <4 x double>, ptr %r109, align 32
  %r111 = fneg <4 x double> %r108
  %r112 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r111, <4 x double> %r69, <4 x double> %r110)
  %r113 = getelementptr <4 x double>, ptr @table, i64 17
  %r114 = load volatile <4 x double>, ptr %r113, align 32
  %r115 = fneg <4 x double> %r112
  %r116 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r115, <4 x double> %r69, <4 x double> %r114)
  %r117 = getelementptr <4 x double>, ptr @table, i64 18
  %r118 = load volatile <4 x double>, ptr %r117, align 32
  %r119 = fneg <4 x double> %r116
  %r120 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r119, <4 x double> %r69, <4 x double> %r118)
  %r121 = getelementptr <4 x double>, ptr @table, i64 19
  %r122 = load volatile <4 x double>, ptr %r121, align 32
  %r123 = fneg <4 x double> %r120
  %r124 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r123, <4 x double> %r69, <4 x double> %r122)
  %r125 = bitcast <4 x double> %r53 to <4 x i64>
  %r126 = and <4 x i64> %r125, <i64 1, i64 1, i64 1, i64 1>
  %r127 = bitcast <4 x i64> %r126 to <4 x double>
  %r128 = bitcast <4 x double> %r53 to <4 x i64>
  %r129 = shl <4 x i64> %r128, <i64 62, i64 62, i64 62, i64 62>
  %r130 = bitcast <4 x i64> %r129 to <4 x double>
  %r131 = bitcast <4 x double> %r130 to <4 x i64>
  %r132 = and <4 x i64> %r131, <i64 -9223372036854775808, i64 -9223372036854775808, i64 -9223372036854775808, i64 -9223372036854775808>
  %r133 = bitcast <4 x i64> %r132 to <4 x double>
  %r134 = bitcast <4 x double> %r94 to <4 x i64>
  %r135 = bitcast <4 x double> %r133 to <4 x i64>
  %r136 = xor <4 x i64> %r134, %r135
  %r137 = bitcast <4 x i64> %r136 to <4 x double>
  %r138 = bitcast <4 x double> %r124 to <4 x i64>
  %r139 = bitcast <4 x double> %r133 to <4 x i64>
  %r140 = xor <4 x i64> %r138, %r139
  %r141 = bitcast <4 x i64> %r140 to <4 x double>
  %r142 = bitcast <4 x double> %r127 to <4 x i64>
  %r143 = icmp ne <4 x i64> %r142, zeroinitializer
  %r144 = select <4 x i1> %r143, <4 x double> %r141, <4 x double> %r137
  %r145 = bitcast <4 x double> %r127 to <4 x i64>
  %r146 = icmp ne <4 x i64> %r145, zeroinitializer
  %r147 = fneg <4 x double> %r137
  %r148 = select <4 x i1> %r146, <4 x double> %r147, <4 x double> %r141
  %r149 = getelementptr <4 x double>, ptr %frame, i64 1
  %r150 = load volatile <4 x double>, ptr %r149, align 32
  %r151 = fmul <4 x double> %r150, %r148
  %r152 = getelementptr <4 x double>, ptr @table, i64 20
  %r153 = load volatile <4 x double>, ptr %r152, align 32
  %r154 = fmul <4 x double> %r153, %r144
  %r155 = getelementptr <4 x double>, ptr @table, i64 21
  %r156 = load volatile <4 x double>, ptr %r155, align 32
  %r157 = call <4 x double> @llvm.fma.v4f64(<4 x double> %r156, <4 x double> %r151, <4 x double> %r154)
  %r158 = fneg <4 x double> %r157
  %r159 = extractelement <4 x double> %r158, i32 0
  %r160 = getelementptr double, ptr %r23, i64 1
  store double %r159, ptr %r160, align 8
  %r161 = extractelement <4 x double> %r158, i32 1
  %r162 = getelementptr double, ptr %r26, i64 1
  store double %r161, ptr %r162, align 8
  %r163 = extractelement <4 x double> %r158, i32 2
  %r164 = getelementptr double, ptr %r29, i64 1
  store double %r163, ptr %r164, align 8
  %r165 = extractelement <4 x double> %r158, i32 3
  %r166 = getelementptr double, ptr %r32, i64 1
  store double %r165, ptr %r166, align 8
  ret void
}
define internal i1 @body(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {
entry:
  call void @segment0(ptr %in, ptr %out, ptr %frame)
  ret i1 true
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
  %frame = alloca [64 x i8], align 64
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