@table = internal global [21 x <2 x double>] [<2 x double> <double 0x4202A05F20000000, double 0x4202A05F20000000>, <2 x double> <double 0x3DA5FD7FE1796495, double 0x3DA5FD7FE1796495>, <2 x double> <double 0x3FE45F306DC9C883, double 0x3FE45F306DC9C883>, <2 x double> <double 0x4338000000000000, double 0x4338000000000000>, <2 x double> <double 0x3FF0000000000000, double 0x3FF0000000000000>, <2 x double> <double 0x3FF921FB54442D18, double 0x3FF921FB54442D18>, <2 x double> <double 0x3C91A62633145C06, double 0x3C91A62633145C06>, <2 x double> <double 0x394C1CD129024E08, double 0x394C1CD129024E08>, <2 x double> <double 0x3DA8FA49A0861A9B, double 0x3DA8FA49A0861A9B>, <2 x double> <double 0x3E21EE9D7B4E3F05, double 0x3E21EE9D7B4E3F05>, <2 x double> <double 0x3E927E4F7EAC4BC6, double 0x3E927E4F7EAC4BC6>, <2 x double> <double 0x3EFA01A019C844F5, double 0x3EFA01A019C844F5>, <2 x double> <double 0x3F56C16C16C14F91, double 0x3F56C16C16C14F91>, <2 x double> <double 0x3FA555555555554B, double 0x3FA555555555554B>, <2 x double> <double 0x3FE0000000000000, double 0x3FE0000000000000>, <2 x double> <double 0x3DE5D8FD1FD19CCD, double 0x3DE5D8FD1FD19CCD>, <2 x double> <double 0x3E5AE5E5A9291F5D, double 0x3E5AE5E5A9291F5D>, <2 x double> <double 0x3EC71DE3567D48A1, double 0x3EC71DE3567D48A1>, <2 x double> <double 0x3F2A01A019BFDF03, double 0x3F2A01A019BFDF03>, <2 x double> <double 0x3F8111111110F7D0, double 0x3F8111111110F7D0>, <2 x double> <double 0x3FC5555555555548, double 0x3FC5555555555548>], align 64
declare <2 x double> @llvm.fma.v2f64(<2 x double>, <2 x double>, <2 x double>)
declare <2 x double> @llvm.sqrt.v2f64(<2 x double>)
declare <2 x double> @llvm.fabs.v2f64(<2 x double>)
declare <2 x double> @llvm.floor.v2f64(<2 x double>)
declare <2 x double> @llvm.minimum.v2f64(<2 x double>, <2 x double>)
declare <2 x double> @llvm.maximum.v2f64(<2 x double>, <2 x double>)
declare <2 x double> @llvm.copysign.v2f64(<2 x double>, <2 x double>)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <2 x double> @llvm.masked.load.v2f64.p0(ptr, i32, <2 x i1>, <2 x double>)
declare void @llvm.masked.store.v2f64.p0(<2 x double>, ptr, i32, <2 x i1>)
declare double @llvm.fabs.f64(double)
declare i1 @llvm.vector.reduce.or.v2i1(<2 x i1>)
declare double @sin(double)
declare double @cos(double)
declare double @asin(double)
declare double @acos(double)
declare double @exp(double)
declare double @log(double)
declare double @tanh(double)
declare double @atan2(double, double)
define internal <2 x double> @slow_angle(<2 x double> %x) cold noinline {
entry:
  br label %lane
lane:
  %k = phi i32 [ 0, %entry ], [ %next, %lane ]
  %before = phi <2 x double> [ %x, %entry ], [ %after, %lane ]
  %angle = extractelement <2 x double> %x, i32 %k
  %size = call double @llvm.fabs.f64(double %angle)
  %far = fcmp ogt double %size, 0x40F86A0000000000
  %s = call double @sin(double %angle)
  %c = call double @cos(double %angle)
  %a = call double @atan2(double %s, double %c)
  %near = select i1 %far, double %a, double %angle
  %after = insertelement <2 x double> %before, double %near, i32 %k
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, 2
  br i1 %more, label %lane, label %done
done:
  ret <2 x double> %after
}
define internal void @segment0(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {
entry:
  %r1 = getelementptr ptr, ptr %in, i64 0
  %r2 = load ptr, ptr %r1, align 8
  %r3 = load <2 x double>, ptr %r2, align 8
  %r4 = getelementptr ptr, ptr %in, i64 1
  %r5 = load ptr, ptr %r4, align 8
  %r6 = load <2 x double>, ptr %r5, align 8
  %r7 = shufflevector <2 x double> %r3, <2 x double> %r6, <2 x i32> <i32 0, i32 2>
  %r8 = shufflevector <2 x double> %r3, <2 x double> %r6, <2 x i32> <i32 1, i32 3>
  %r9 = getelementptr <2 x double>, ptr %frame, i64 1
  store volatile <2 x double> %r7, ptr %r9, align 16
  %r10 = getelementptr <2 x double>, ptr %frame, i64 2
  store volatile <2 x double> %r8, ptr %r10, align 16
  %r11 = fmul <2 x double> %r7, %r7
  %r12 = getelementptr <2 x double>, ptr @table, i64 0
  %r13 = load volatile <2 x double>, ptr %r12, align 16
  %r14 = fcmp ogt <2 x double> %r11, %r13
  %r15 = call i1 @llvm.vector.reduce.or.v2i1(<2 x i1> %r14)
  br i1 %r15, label %far15, label %near15, !prof !0
far15:
  %r16 = call <2 x double> @slow_angle(<2 x double> %r7)
  br label %near15
near15:
  %r17 = phi <2 x double> [ %r7, %entry ], [ %r16, %far15 ]
  %r18 = getelementptr <2 x double>, ptr %frame, i64 1
  %r19 = load volatile <2 x double>, ptr %r18, align 16
  %r20 = getelementptr <2 x double>, ptr %frame, i64 2
  %r21 = load volatile <2 x double>, ptr %r20, align 16
  %r22 = getelementptr double, ptr %r2, i64 2
  %r23 = load double, ptr %r22, align 8
  %r24 = insertelement <2 x double> poison, double %r23, i32 0
  %r25 = getelementptr double, ptr %r5, i64 2
  %r26 = load double, ptr %r25, align 8
  %r27 = insertelement <2 x double> %r24, double %r26, i32 1
  %r28 = fcmp une <2 x double> %r19, zeroinitializer
  %r29 = select <2 x i1> %r28, <2 x double> %r21, <2 x double> %r27
  %r30 = getelementptr <2 x double>, ptr @table, i64 1
  %r31 = load volatile <2 x double>, ptr %r30, align 16
  %r32 = fmul <2 x double> %r21, %r31
  %r33 = fcmp ogt <2 x double> %r19, %r32
  %r34 = select <2 x i1> %r33, <2 x double> %r19, <2 x double> zeroinitializer
  %r35 = shufflevector <2 x double> %r34, <2 x double> %r29, <2 x i32> <i32 0, i32 2>
  %r36 = shufflevector <2 x double> %r34, <2 x double> %r29, <2 x i32> <i32 1, i32 3>
  %r37 = getelementptr ptr, ptr %out, i64 0
  %r38 = load ptr, ptr %r37, align 8
  %r39 = getelementptr double, ptr %r38, i64 26
  store <2 x double> %r35, ptr %r39, align 8
  %r40 = getelementptr ptr, ptr %out, i64 1
  %r41 = load ptr, ptr %r40, align 8
  %r42 = getelementptr double, ptr %r41, i64 26
  store <2 x double> %r36, ptr %r42, align 8
  %r43 = call <2 x double> @llvm.maximum.v2f64(<2 x double> %r19, <2 x double> %r21)
  %r44 = shufflevector <2 x double> %r43, <2 x double> %r19, <2 x i32> <i32 0, i32 2>
  %r45 = shufflevector <2 x double> %r43, <2 x double> %r19, <2 x i32> <i32 1, i32 3>
  %r46 = getelementptr double, ptr %r38, i64 24
  store <2 x double> %r44, ptr %r46, align 8
  %r47 = getelementptr double, ptr %r41, i64 24
  store <2 x double> %r45, ptr %r47, align 8
  %r48 = call <2 x double> @llvm.minimum.v2f64(<2 x double> %r19, <2 x double> %r21)
  %r49 = fcmp oeq <2 x double> %r19, zeroinitializer
  %r50 = uitofp <2 x i1> %r49 to <2 x double>
  %r51 = shufflevector <2 x double> %r50, <2 x double> %r48, <2 x i32> <i32 0, i32 2>
  %r52 = shufflevector <2 x double> %r50, <2 x double> %r48, <2 x i32> <i32 1, i32 3>
  %r53 = getelementptr double, ptr %r38, i64 22
  store <2 x double> %r51, ptr %r53, align 8
  %r54 = getelementptr double, ptr %r41, i64 22
  store <2 x double> %r52, ptr %r54, align 8
  %r55 = fcmp oeq <2 x double> %r19, %r21
  %r56 = uitofp <2 x i1> %r55 to <2 x double>
  %r57 = fcmp ole <2 x double> %r19, %r21
  %r58 = uitofp <2 x i1> %r57 to <2 x double>
  %r59 = shufflevector <2 x double> %r58, <2 x double> %r56, <2 x i32> <i32 0, i32 2>
  %r60 = shufflevector <2 x double> %r58, <2 x double> %r56, <2 x i32> <i32 1, i32 3>
  %r61 = getelementptr double, ptr %r38, i64 20
  store <2 x double> %r59, ptr %r61, align 8
  %r62 = getelementptr double, ptr %r41, i64 20
  store <2 x double> %r60, ptr %r62, align 8
  %r63 = fcmp olt <2 x double> %r19, %r21
  %r64 = uitofp <2 x i1> %r63 to <2 x double>
  %r65 = call <2 x double> @llvm.maximum.v2f64(<2 x double> %r19, <2 x double> %r21)
  %r66 = shufflevector <2 x double> %r65, <2 x double> %r64, <2 x i32> <i32 0, i32 2>
  %r67 = shufflevector <2 x double> %r65, <2 x double> %r64, <2 x i32> <i32 1, i32 3>
  %r68 = getelementptr double, ptr %r38, i64 18
  store <2 x double> %r66, ptr %r68, align 8
  %r69 = getelementptr double, ptr %r41, i64 18
  store <2 x double> %r67, ptr %r69, align 8
  %r70 = call <2 x double> @llvm.minimum.v2f64(<2 x double> %r19, <2 x double> %r21)
  %r71 = call <2 x double> @llvm.floor.v2f64(<2 x double> %r19)
  %r72 = shufflevector <2 x double> %r71, <2 x double> %r70, <2 x i32> <i32 0, i32 2>
  %r73 = shufflevector <2 x double> %r71, <2 x double> %r70, <2 x i32> <i32 1, i32 3>
  %r74 = getelementptr double, ptr %r38, i64 16
  store <2 x double> %r72, ptr %r74, align 8
  %r75 = getelementptr double, ptr %r41, i64 16
  store <2 x double> %r73, ptr %r75, align 8
  %r76 = extractelement <2 x double> %r19, i32 0
  %r77 = call double @tanh(double %r76)
  %r78 = insertelement <2 x double> poison, double %r77, i32 0
  %r79 = extractelement <2 x double> %r19, i32 1
  %r80 = call double @tanh(double %r79)
  %r81 = insertelement <2 x double> %r78, double %r80, i32 1
  %r82 = extractelement <2 x double> %r19, i32 0
  %r83 = call double @log(double %r82)
  %r84 = insertelement <2 x double> poison, double %r83, i32 0
  %r85 = extractelement <2 x double> %r19, i32 1
  %r86 = call double @log(double %r85)
  %r87 = insertelement <2 x double> %r84, double %r86, i32 1
  %r88 = shufflevector <2 x double> %r87, <2 x double> %r81, <2 x i32> <i32 0, i32 2>
  %r89 = shufflevector <2 x double> %r87, <2 x double> %r81, <2 x i32> <i32 1, i32 3>
  %r90 = getelementptr double, ptr %r38, i64 14
  store <2 x double> %r88, ptr %r90, align 8
  %r91 = getelementptr double, ptr %r41, i64 14
  store <2 x double> %r89, ptr %r91, align 8
  %r92 = extractelement <2 x double> %r19, i32 0
  %r93 = call double @exp(double %r92)
  %r94 = insertelement <2 x double> poison, double %r93, i32 0
  %r95 = extractelement <2 x double> %r19, i32 1
  %r96 = call double @exp(double %r95)
  %r97 = insertelement <2 x double> %r94, double %r96, i32 1
  %r98 = extractelement <2 x double> %r19, i32 0
  %r99 = extractelement <2 x double> %r21, i32 0
  %r100 = call double @atan2(double %r98, double %r99)
  %r101 = insertelement <2 x double> poison, double %r100, i32 0
  %r102 = extractelement <2 x double> %r19, i32 1
  %r103 = extractelement <2 x double> %r21, i32 1
  %r104 = call double @atan2(double %r102, double %r103)
  %r105 = insertelement <2 x double> %r101, double %r104, i32 1
  %r106 = shufflevector <2 x double> %r105, <2 x double> %r97, <2 x i32> <i32 0, i32 2>
  %r107 = shufflevector <2 x double> %r105, <2 x double> %r97, <2 x i32> <i32 1, i32 3>
  %r108 = getelementptr double, ptr %r38, i64 12
  store <2 x double> %r106, ptr %r108, align 8
  %r109 = getelementptr double, ptr %r41, i64 12
  store <2 x double> %r107, ptr %r109, align 8
  %r110 = extractelement <2 x double> %r19, i32 0
  %r111 = call double @acos(double %r110)
  %r112 = insertelement <2 x double> poison, double %r111, i32 0
  %r113 = extractelement <2 x double> %r19, i32 1
  %r114 = call double @acos(double %r113)
  %r115 = insertelement <2 x double> %r112, double %r114, i32 1
  %r116 = extractelement <2 x double> %r19, i32 0
  %r117 = call double @asin(double %r116)
  %r118 = insertelement <2 x double> poison, double %r117, i32 0
  %r119 = extractelement <2 x double> %r19, i32 1
  %r120 = call double @asin(double %r119)
  %r121 = insertelement <2 x double> %r118, double %r120, i32 1
  %r122 = shufflevector <2 x double> %r121, <2 x double> %r115, <2 x i32> <i32 0, i32 2>
  %r123 = shufflevector <2 x double> %r121, <2 x double> %r115, <2 x i32> <i32 1, i32 3>
  %r124 = getelementptr double, ptr %r38, i64 10
  store <2 x double> %r122, ptr %r124, align 8
  %r125 = getelementptr double, ptr %r41, i64 10
  store <2 x double> %r123, ptr %r125, align 8
  %r126 = getelementptr <2 x double>, ptr @table, i64 2
  %r127 = load volatile <2 x double>, ptr %r126, align 16
  %r128 = getelementptr <2 x double>, ptr @table, i64 3
  %r129 = load volatile <2 x double>, ptr %r128, align 16
  %r130 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r17, <2 x double> %r127, <2 x double> %r129)
  %r131 = call <2 x double> @llvm.sqrt.v2f64(<2 x double> %r19)
  %r132 = fcmp one <2 x double> %r19, zeroinitializer
  %r133 = getelementptr <2 x double>, ptr @table, i64 4
  %r134 = load volatile <2 x double>, ptr %r133, align 16
  %r135 = call <2 x double> @llvm.copysign.v2f64(<2 x double> %r134, <2 x double> %r19)
  %r136 = fadd <2 x double> %r19, zeroinitializer
  %r137 = select <2 x i1> %r132, <2 x double> %r135, <2 x double> %r136
  %r138 = shufflevector <2 x double> %r137, <2 x double> %r131, <2 x i32> <i32 0, i32 2>
  %r139 = shufflevector <2 x double> %r137, <2 x double> %r131, <2 x i32> <i32 1, i32 3>
  %r140 = getelementptr double, ptr %r38, i64 6
  store <2 x double> %r138, ptr %r140, align 8
  %r141 = getelementptr double, ptr %r41, i64 6
  store <2 x double> %r139, ptr %r141, align 8
  %r142 = call <2 x double> @llvm.fabs.v2f64(<2 x double> %r19)
  %r143 = fneg <2 x double> %r19
  %r144 = shufflevector <2 x double> %r143, <2 x double> %r142, <2 x i32> <i32 0, i32 2>
  %r145 = shufflevector <2 x double> %r143, <2 x double> %r142, <2 x i32> <i32 1, i32 3>
  %r146 = getelementptr double, ptr %r38, i64 4
  store <2 x double> %r144, ptr %r146, align 8
  %r147 = getelementptr double, ptr %r41, i64 4
  store <2 x double> %r145, ptr %r147, align 8
  %r148 = fdiv <2 x double> %r19, %r21
  %r149 = fmul <2 x double> %r19, %r21
  %r150 = shufflevector <2 x double> %r149, <2 x double> %r148, <2 x i32> <i32 0, i32 2>
  %r151 = shufflevector <2 x double> %r149, <2 x double> %r148, <2 x i32> <i32 1, i32 3>
  %r152 = getelementptr double, ptr %r38, i64 2
  store <2 x double> %r150, ptr %r152, align 8
  %r153 = getelementptr double, ptr %r41, i64 2
  store <2 x double> %r151, ptr %r153, align 8
  %r154 = fsub <2 x double> %r19, %r21
  %r155 = getelementptr <2 x double>, ptr @table, i64 3
  %r156 = load volatile <2 x double>, ptr %r155, align 16
  %r157 = fsub <2 x double> %r130, %r156
  %r158 = bitcast <2 x double> %r130 to <2 x i64>
  %r159 = shl <2 x i64> %r158, <i64 62, i64 62>
  %r160 = bitcast <2 x i64> %r159 to <2 x double>
  %r161 = bitcast <2 x double> %r160 to <2 x i64>
  %r162 = and <2 x i64> %r161, <i64 -9223372036854775808, i64 -9223372036854775808>
  %r163 = bitcast <2 x i64> %r162 to <2 x double>
  %r164 = bitcast <2 x double> %r130 to <2 x i64>
  %r165 = and <2 x i64> %r164, <i64 1, i64 1>
  %r166 = bitcast <2 x i64> %r165 to <2 x double>
  %r167 = fadd <2 x double> %r19, %r21
  %r168 = shufflevector <2 x double> %r167, <2 x double> %r154, <2 x i32> <i32 0, i32 2>
  %r169 = shufflevector <2 x double> %r167, <2 x double> %r154, <2 x i32> <i32 1, i32 3>
  store <2 x double> %r168, ptr %r38, align 8
  store <2 x double> %r169, ptr %r41, align 8
  %r170 = getelementptr <2 x double>, ptr @table, i64 5
  %r171 = load volatile <2 x double>, ptr %r170, align 16
  %r172 = fneg <2 x double> %r157
  %r173 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r172, <2 x double> %r171, <2 x double> %r17)
  %r174 = getelementptr <2 x double>, ptr @table, i64 6
  %r175 = load volatile <2 x double>, ptr %r174, align 16
  %r176 = fneg <2 x double> %r157
  %r177 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r176, <2 x double> %r175, <2 x double> %r173)
  %r178 = getelementptr <2 x double>, ptr @table, i64 7
  %r179 = load volatile <2 x double>, ptr %r178, align 16
  %r180 = fneg <2 x double> %r157
  %r181 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r180, <2 x double> %r179, <2 x double> %r177)
  %r182 = fmul <2 x double> %r181, %r181
  %r183 = getelementptr <2 x double>, ptr @table, i64 8
  %r184 = load volatile <2 x double>, ptr %r183, align 16
  %r185 = getelementptr <2 x double>, ptr @table, i64 9
  %r186 = load volatile <2 x double>, ptr %r185, align 16
  %r187 = fneg <2 x double> %r184
  %r188 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r187, <2 x double> %r182, <2 x double> %r186)
  %r189 = getelementptr <2 x double>, ptr @table, i64 10
  %r190 = load volatile <2 x double>, ptr %r189, align 16
  %r191 = fneg <2 x double> %r188
  %r192 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r191, <2 x double> %r182, <2 x double> %r190)
  %r193 = getelementptr <2 x double>, ptr @table, i64 11
  %r194 = load volatile <2 x double>, ptr %r193, align 16
  %r195 = fneg <2 x double> %r192
  %r196 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r195, <2 x double> %r182, <2 x double> %r194)
  %r197 = getelementptr <2 x double>, ptr @table, i64 12
  %r198 = load volatile <2 x double>, ptr %r197, align 16
  %r199 = fneg <2 x double> %r196
  %r200 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r199, <2 x double> %r182, <2 x double> %r198)
  %r201 = getelementptr <2 x double>, ptr @table, i64 13
  %r202 = load volatile <2 x double>, ptr %r201, align 16
  %r203 = fneg <2 x double> %r200
  %r204 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r203, <2 x double> %r182, <2 x double> %r202)
  %r205 = getelementptr <2 x double>, ptr @table, i64 14
  %r206 = load volatile <2 x double>, ptr %r205, align 16
  %r207 = fneg <2 x double> %r204
  %r208 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r207, <2 x double> %r182, <2 x double> %r206)
  %r209 = getelementptr <2 x double>, ptr @table, i64 4
  %r210 = load volatile <2 x double>, ptr %r209, align 16
  %r211 = fneg <2 x double> %r208
  %r212 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r211, <2 x double> %r182, <2 x double> %r210)
  %r213 = bitcast <2 x double> %r212 to <2 x i64>
  %r214 = bitcast <2 x double> %r163 to <2 x i64>
  %r215 = xor <2 x i64> %r213, %r214
  %r216 = bitcast <2 x i64> %r215 to <2 x double>
  %r217 = getelementptr <2 x double>, ptr @table, i64 15
  %r218 = load volatile <2 x double>, ptr %r217, align 16
  %r219 = getelementptr <2 x double>, ptr @table, i64 16
  %r220 = load volatile <2 x double>, ptr %r219, align 16
  %r221 = fneg <2 x double> %r218
  %r222 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r221, <2 x double> %r182, <2 x double> %r220)
  %r223 = getelementptr <2 x double>, ptr @table, i64 17
  %r224 = load volatile <2 x double>, ptr %r223, align 16
  %r225 = fneg <2 x double> %r222
  %r226 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r225, <2 x double> %r182, <2 x double> %r224)
  %r227 = getelementptr <2 x double>, ptr @table, i64 18
  %r228 = load volatile <2 x double>, ptr %r227, align 16
  %r229 = fneg <2 x double> %r226
  %r230 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r229, <2 x double> %r182, <2 x double> %r228)
  %r231 = getelementptr <2 x double>, ptr @table, i64 19
  %r232 = load volatile <2 x double>, ptr %r231, align 16
  %r233 = fneg <2 x double> %r230
  %r234 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r233, <2 x double> %r182, <2 x double> %r232)
  %r235 = getelementptr <2 x double>, ptr @table, i64 20
  %r236 = load volatile <2 x double>, ptr %r235, align 16
  %r237 = fneg <2 x double> %r234
  %r238 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r237, <2 x double> %r182, <2 x double> %r236)
  %r239 = fmul <2 x double> %r238, %r182
  %r240 = fneg <2 x double> %r239
  %r241 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r240, <2 x double> %r181, <2 x double> %r181)
  %r242 = bitcast <2 x double> %r241 to <2 x i64>
  %r243 = bitcast <2 x double> %r163 to <2 x i64>
  %r244 = xor <2 x i64> %r242, %r243
  %r245 = bitcast <2 x i64> %r244 to <2 x double>
  %r246 = bitcast <2 x double> %r166 to <2 x i64>
  %r247 = icmp ne <2 x i64> %r246, zeroinitializer
  %r248 = select <2 x i1> %r247, <2 x double> %r216, <2 x double> %r245
  %r249 = bitcast <2 x double> %r166 to <2 x i64>
  %r250 = icmp ne <2 x i64> %r249, zeroinitializer
  %r251 = fneg <2 x double> %r245
  %r252 = select <2 x i1> %r250, <2 x double> %r251, <2 x double> %r216
  %r253 = shufflevector <2 x double> %r248, <2 x double> %r252, <2 x i32> <i32 0, i32 2>
  %r254 = shufflevector <2 x double> %r248, <2 x double> %r252, <2 x i32> <i32 1, i32 3>
  %r255 = getelementptr double, ptr %r38, i64 8
  store <2 x double> %r253, ptr %r255, align 8
  %r256 = getelementptr double, ptr %r41, i64 8
  store <2 x double> %r254, ptr %r256, align 8
  ret void
}
define internal i1 @body(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {
entry:
  call void @segment0(ptr %in, ptr %out, ptr %frame)
  ret i1 true
}
define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %services) {
entry:
  %in = alloca [2 x ptr], align 64
  %out = alloca [2 x ptr], align 64
  %n = load i64, ptr %dims, align 8
  %pp0 = getelementptr ptr, ptr %args, i64 0
  %base0 = load ptr, ptr %pp0, align 8
  %ps0 = getelementptr i64, ptr %steps, i64 0
  %step0 = load i64, ptr %ps0, align 8
  %pp1 = getelementptr ptr, ptr %args, i64 1
  %base1 = load ptr, ptr %pp1, align 8
  %ps1 = getelementptr i64, ptr %steps, i64 1
  %step1 = load i64, ptr %ps1, align 8
  %pc0_0 = getelementptr i64, ptr %steps, i64 2
  %core0_0 = load i64, ptr %pc0_0, align 8
  %is0_0 = icmp eq i64 %core0_0, 8
  %all0_0 = and i1 true, %is0_0
  %pc1_0 = getelementptr i64, ptr %steps, i64 3
  %core1_0 = load i64, ptr %pc1_0, align 8
  %is1_0 = icmp eq i64 %core1_0, 8
  %all1_0 = and i1 true, %is1_0
  %copies = alloca [496 x i8], align 64
  %frame = alloca [48 x i8], align 64
  br label %start
done:
  ret void
start:
  %own0_0 = getelementptr i8, ptr %copies, i64 0
  %own0_1 = getelementptr i8, ptr %copies, i64 24
  %own1_0 = getelementptr i8, ptr %copies, i64 48
  %own1_1 = getelementptr i8, ptr %copies, i64 272
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
  %later1 = add i64 %i, 10
  %laterat1 = mul i64 %later1, %step1
  %fetch1 = getelementptr i8, ptr %base1, i64 %laterat1
  br label %fetching1
fetching1:
  %f1 = phi i64 [ 0, %lanes ], [ %fn1, %fetching1 ]
  %fo1_0 = add i64 %f1, 0
  %fl1_0 = getelementptr i8, ptr %fetch1, i64 %fo1_0
  call void @llvm.prefetch.p0(ptr %fl1_0, i32 1, i32 3, i32 1)
  %fo1_64 = add i64 %f1, 64
  %fl1_64 = getelementptr i8, ptr %fetch1, i64 %fo1_64
  call void @llvm.prefetch.p0(ptr %fl1_64, i32 1, i32 3, i32 1)
  %fo1_128 = add i64 %f1, 128
  %fl1_128 = getelementptr i8, ptr %fetch1, i64 %fo1_128
  call void @llvm.prefetch.p0(ptr %fl1_128, i32 1, i32 3, i32 1)
  %fo1_192 = add i64 %f1, 192
  %fl1_192 = getelementptr i8, ptr %fetch1, i64 %fo1_192
  call void @llvm.prefetch.p0(ptr %fl1_192, i32 1, i32 3, i32 1)
  %fo1_256 = add i64 %f1, 256
  %fl1_256 = getelementptr i8, ptr %fetch1, i64 %fo1_256
  call void @llvm.prefetch.p0(ptr %fl1_256, i32 1, i32 3, i32 1)
  %fo1_320 = add i64 %f1, 320
  %fl1_320 = getelementptr i8, ptr %fetch1, i64 %fo1_320
  call void @llvm.prefetch.p0(ptr %fl1_320, i32 1, i32 3, i32 1)
  %fo1_384 = add i64 %f1, 384
  %fl1_384 = getelementptr i8, ptr %fetch1, i64 %fo1_384
  call void @llvm.prefetch.p0(ptr %fl1_384, i32 1, i32 3, i32 1)
  %fn1 = add i64 %f1, 512
  %fc1 = icmp slt i64 %fn1, 448
  br i1 %fc1, label %fetching1, label %fetched1
fetched1:
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
  br i1 %all0_0, label %point1, label %take0
take0:
  store ptr %own0_0, ptr %slot0_0, align 8
  store ptr %own0_1, ptr %slot0_1, align 8
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
  %en0 = add i64 %e0, 1
  %ec0 = icmp slt i64 %en0, 3
  br i1 %ec0, label %each0, label %copied0
copied0:
  br label %point1
point1:
  %off1_0 = mul i64 %row0, %step1
  %at1_0 = getelementptr i8, ptr %base1, i64 %off1_0
  %slot1_0 = getelementptr ptr, ptr %out, i64 0
  store ptr %at1_0, ptr %slot1_0, align 8
  %off1_1 = mul i64 %row1, %step1
  %at1_1 = getelementptr i8, ptr %base1, i64 %off1_1
  %slot1_1 = getelementptr ptr, ptr %out, i64 1
  store ptr %at1_1, ptr %slot1_1, align 8
  br i1 %all1_0, label %point2, label %take1
take1:
  store ptr %own1_0, ptr %slot1_0, align 8
  store ptr %own1_1, ptr %slot1_1, align 8
  br label %point2
point2:
  %finite = call i1 @body(ptr %in, ptr %out, ptr %frame)
  br i1 %finite, label %back1, label %trouble, !prof !1
trouble:
  %status = getelementptr i64, ptr %services, i64 5
  store i64 1, ptr %status, align 8
  br label %back1
back1:
  br i1 %all1_0, label %back2, label %give1
give1:
  br label %each1
each1:
  %e1 = phi i64 [ 0, %give1 ], [ %en1, %each1 ]
  %em1 = mul i64 %e1, %core1_0
  %eo1 = add i64 0, %em1
  %there1_0 = getelementptr i8, ptr %at1_0, i64 %eo1
  %here1_0 = getelementptr double, ptr %own1_0, i64 %e1
  %x1_0 = load double, ptr %here1_0, align 8
  store double %x1_0, ptr %there1_0, align 8
  %there1_1 = getelementptr i8, ptr %at1_1, i64 %eo1
  %here1_1 = getelementptr double, ptr %own1_1, i64 %e1
  %x1_1 = load double, ptr %here1_1, align 8
  store double %x1_1, ptr %there1_1, align 8
  %en1 = add i64 %e1, 1
  %ec1 = icmp slt i64 %en1, 28
  br i1 %ec1, label %each1, label %copied1
copied1:
  br label %back2
back2:
  br label %after
after:
  %next = add i64 %i, 2
  br label %head
}
!0 = !{!"branch_weights", i32 1, i32 100000}
!1 = !{!"branch_weights", i32 100000, i32 1}