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
declare double @pow(double, double)
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
  %r30 = extractelement <2 x double> %r29, i32 0
  %r31 = getelementptr ptr, ptr %out, i64 0
  %r32 = load ptr, ptr %r31, align 8
  %r33 = getelementptr double, ptr %r32, i64 28
  store double %r30, ptr %r33, align 8
  %r34 = extractelement <2 x double> %r29, i32 1
  %r35 = getelementptr ptr, ptr %out, i64 1
  %r36 = load ptr, ptr %r35, align 8
  %r37 = getelementptr double, ptr %r36, i64 28
  store double %r34, ptr %r37, align 8
  %r38 = getelementptr <2 x double>, ptr @table, i64 1
  %r39 = load volatile <2 x double>, ptr %r38, align 16
  %r40 = fmul <2 x double> %r21, %r39
  %r41 = fcmp ogt <2 x double> %r19, %r40
  %r42 = select <2 x i1> %r41, <2 x double> %r19, <2 x double> zeroinitializer
  %r43 = shufflevector <2 x double> %r19, <2 x double> %r42, <2 x i32> <i32 0, i32 2>
  %r44 = shufflevector <2 x double> %r19, <2 x double> %r42, <2 x i32> <i32 1, i32 3>
  %r45 = getelementptr double, ptr %r32, i64 26
  store <2 x double> %r43, ptr %r45, align 8
  %r46 = getelementptr double, ptr %r36, i64 26
  store <2 x double> %r44, ptr %r46, align 8
  %r47 = call <2 x double> @llvm.maximum.v2f64(<2 x double> %r19, <2 x double> %r21)
  %r48 = call <2 x double> @llvm.minimum.v2f64(<2 x double> %r19, <2 x double> %r21)
  %r49 = shufflevector <2 x double> %r48, <2 x double> %r47, <2 x i32> <i32 0, i32 2>
  %r50 = shufflevector <2 x double> %r48, <2 x double> %r47, <2 x i32> <i32 1, i32 3>
  %r51 = getelementptr double, ptr %r32, i64 24
  store <2 x double> %r49, ptr %r51, align 8
  %r52 = getelementptr double, ptr %r36, i64 24
  store <2 x double> %r50, ptr %r52, align 8
  %r53 = fcmp oeq <2 x double> %r19, zeroinitializer
  %r54 = uitofp <2 x i1> %r53 to <2 x double>
  %r55 = fcmp oeq <2 x double> %r19, %r21
  %r56 = uitofp <2 x i1> %r55 to <2 x double>
  %r57 = shufflevector <2 x double> %r56, <2 x double> %r54, <2 x i32> <i32 0, i32 2>
  %r58 = shufflevector <2 x double> %r56, <2 x double> %r54, <2 x i32> <i32 1, i32 3>
  %r59 = getelementptr double, ptr %r32, i64 22
  store <2 x double> %r57, ptr %r59, align 8
  %r60 = getelementptr double, ptr %r36, i64 22
  store <2 x double> %r58, ptr %r60, align 8
  %r61 = fcmp ole <2 x double> %r19, %r21
  %r62 = uitofp <2 x i1> %r61 to <2 x double>
  %r63 = fcmp olt <2 x double> %r19, %r21
  %r64 = uitofp <2 x i1> %r63 to <2 x double>
  %r65 = shufflevector <2 x double> %r64, <2 x double> %r62, <2 x i32> <i32 0, i32 2>
  %r66 = shufflevector <2 x double> %r64, <2 x double> %r62, <2 x i32> <i32 1, i32 3>
  %r67 = getelementptr double, ptr %r32, i64 20
  store <2 x double> %r65, ptr %r67, align 8
  %r68 = getelementptr double, ptr %r36, i64 20
  store <2 x double> %r66, ptr %r68, align 8
  %r69 = call <2 x double> @llvm.maximum.v2f64(<2 x double> %r19, <2 x double> %r21)
  %r70 = call <2 x double> @llvm.minimum.v2f64(<2 x double> %r19, <2 x double> %r21)
  %r71 = shufflevector <2 x double> %r70, <2 x double> %r69, <2 x i32> <i32 0, i32 2>
  %r72 = shufflevector <2 x double> %r70, <2 x double> %r69, <2 x i32> <i32 1, i32 3>
  %r73 = getelementptr double, ptr %r32, i64 18
  store <2 x double> %r71, ptr %r73, align 8
  %r74 = getelementptr double, ptr %r36, i64 18
  store <2 x double> %r72, ptr %r74, align 8
  %r75 = call <2 x double> @llvm.floor.v2f64(<2 x double> %r19)
  %r76 = extractelement <2 x double> %r19, i32 0
  %r77 = call double @tanh(double %r76)
  %r78 = insertelement <2 x double> poison, double %r77, i32 0
  %r79 = extractelement <2 x double> %r19, i32 1
  %r80 = call double @tanh(double %r79)
  %r81 = insertelement <2 x double> %r78, double %r80, i32 1
  %r82 = shufflevector <2 x double> %r81, <2 x double> %r75, <2 x i32> <i32 0, i32 2>
  %r83 = shufflevector <2 x double> %r81, <2 x double> %r75, <2 x i32> <i32 1, i32 3>
  %r84 = getelementptr double, ptr %r32, i64 16
  store <2 x double> %r82, ptr %r84, align 8
  %r85 = getelementptr double, ptr %r36, i64 16
  store <2 x double> %r83, ptr %r85, align 8
  %r86 = extractelement <2 x double> %r19, i32 0
  %r87 = call double @log(double %r86)
  %r88 = insertelement <2 x double> poison, double %r87, i32 0
  %r89 = extractelement <2 x double> %r19, i32 1
  %r90 = call double @log(double %r89)
  %r91 = insertelement <2 x double> %r88, double %r90, i32 1
  %r92 = extractelement <2 x double> %r19, i32 0
  %r93 = call double @exp(double %r92)
  %r94 = insertelement <2 x double> poison, double %r93, i32 0
  %r95 = extractelement <2 x double> %r19, i32 1
  %r96 = call double @exp(double %r95)
  %r97 = insertelement <2 x double> %r94, double %r96, i32 1
  %r98 = shufflevector <2 x double> %r97, <2 x double> %r91, <2 x i32> <i32 0, i32 2>
  %r99 = shufflevector <2 x double> %r97, <2 x double> %r91, <2 x i32> <i32 1, i32 3>
  %r100 = getelementptr double, ptr %r32, i64 14
  store <2 x double> %r98, ptr %r100, align 8
  %r101 = getelementptr double, ptr %r36, i64 14
  store <2 x double> %r99, ptr %r101, align 8
  %r102 = extractelement <2 x double> %r19, i32 0
  %r103 = extractelement <2 x double> %r21, i32 0
  %r104 = call double @pow(double %r102, double %r103)
  %r105 = insertelement <2 x double> poison, double %r104, i32 0
  %r106 = extractelement <2 x double> %r19, i32 1
  %r107 = extractelement <2 x double> %r21, i32 1
  %r108 = call double @pow(double %r106, double %r107)
  %r109 = insertelement <2 x double> %r105, double %r108, i32 1
  %r110 = extractelement <2 x double> %r19, i32 0
  %r111 = extractelement <2 x double> %r21, i32 0
  %r112 = call double @atan2(double %r110, double %r111)
  %r113 = insertelement <2 x double> poison, double %r112, i32 0
  %r114 = extractelement <2 x double> %r19, i32 1
  %r115 = extractelement <2 x double> %r21, i32 1
  %r116 = call double @atan2(double %r114, double %r115)
  %r117 = insertelement <2 x double> %r113, double %r116, i32 1
  %r118 = shufflevector <2 x double> %r117, <2 x double> %r109, <2 x i32> <i32 0, i32 2>
  %r119 = shufflevector <2 x double> %r117, <2 x double> %r109, <2 x i32> <i32 1, i32 3>
  %r120 = getelementptr double, ptr %r32, i64 12
  store <2 x double> %r118, ptr %r120, align 8
  %r121 = getelementptr double, ptr %r36, i64 12
  store <2 x double> %r119, ptr %r121, align 8
  %r122 = extractelement <2 x double> %r19, i32 0
  %r123 = call double @acos(double %r122)
  %r124 = insertelement <2 x double> poison, double %r123, i32 0
  %r125 = extractelement <2 x double> %r19, i32 1
  %r126 = call double @acos(double %r125)
  %r127 = insertelement <2 x double> %r124, double %r126, i32 1
  %r128 = extractelement <2 x double> %r19, i32 0
  %r129 = call double @asin(double %r128)
  %r130 = insertelement <2 x double> poison, double %r129, i32 0
  %r131 = extractelement <2 x double> %r19, i32 1
  %r132 = call double @asin(double %r131)
  %r133 = insertelement <2 x double> %r130, double %r132, i32 1
  %r134 = shufflevector <2 x double> %r133, <2 x double> %r127, <2 x i32> <i32 0, i32 2>
  %r135 = shufflevector <2 x double> %r133, <2 x double> %r127, <2 x i32> <i32 1, i32 3>
  %r136 = getelementptr double, ptr %r32, i64 10
  store <2 x double> %r134, ptr %r136, align 8
  %r137 = getelementptr double, ptr %r36, i64 10
  store <2 x double> %r135, ptr %r137, align 8
  %r138 = getelementptr <2 x double>, ptr @table, i64 2
  %r139 = load volatile <2 x double>, ptr %r138, align 16
  %r140 = getelementptr <2 x double>, ptr @table, i64 3
  %r141 = load volatile <2 x double>, ptr %r140, align 16
  %r142 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r17, <2 x double> %r139, <2 x double> %r141)
  %r143 = call <2 x double> @llvm.sqrt.v2f64(<2 x double> %r19)
  %r144 = fcmp one <2 x double> %r19, zeroinitializer
  %r145 = getelementptr <2 x double>, ptr @table, i64 4
  %r146 = load volatile <2 x double>, ptr %r145, align 16
  %r147 = call <2 x double> @llvm.copysign.v2f64(<2 x double> %r146, <2 x double> %r19)
  %r148 = fadd <2 x double> %r19, zeroinitializer
  %r149 = select <2 x i1> %r144, <2 x double> %r147, <2 x double> %r148
  %r150 = shufflevector <2 x double> %r149, <2 x double> %r143, <2 x i32> <i32 0, i32 2>
  %r151 = shufflevector <2 x double> %r149, <2 x double> %r143, <2 x i32> <i32 1, i32 3>
  %r152 = getelementptr double, ptr %r32, i64 6
  store <2 x double> %r150, ptr %r152, align 8
  %r153 = getelementptr double, ptr %r36, i64 6
  store <2 x double> %r151, ptr %r153, align 8
  %r154 = call <2 x double> @llvm.fabs.v2f64(<2 x double> %r19)
  %r155 = fneg <2 x double> %r19
  %r156 = shufflevector <2 x double> %r155, <2 x double> %r154, <2 x i32> <i32 0, i32 2>
  %r157 = shufflevector <2 x double> %r155, <2 x double> %r154, <2 x i32> <i32 1, i32 3>
  %r158 = getelementptr double, ptr %r32, i64 4
  store <2 x double> %r156, ptr %r158, align 8
  %r159 = getelementptr double, ptr %r36, i64 4
  store <2 x double> %r157, ptr %r159, align 8
  %r160 = fdiv <2 x double> %r19, %r21
  %r161 = fmul <2 x double> %r19, %r21
  %r162 = shufflevector <2 x double> %r161, <2 x double> %r160, <2 x i32> <i32 0, i32 2>
  %r163 = shufflevector <2 x double> %r161, <2 x double> %r160, <2 x i32> <i32 1, i32 3>
  %r164 = getelementptr double, ptr %r32, i64 2
  store <2 x double> %r162, ptr %r164, align 8
  %r165 = getelementptr double, ptr %r36, i64 2
  store <2 x double> %r163, ptr %r165, align 8
  %r166 = fsub <2 x double> %r19, %r21
  %r167 = getelementptr <2 x double>, ptr @table, i64 3
  %r168 = load volatile <2 x double>, ptr %r167, align 16
  %r169 = fsub <2 x double> %r142, %r168
  %r170 = bitcast <2 x double> %r142 to <2 x i64>
  %r171 = shl <2 x i64> %r170, <i64 62, i64 62>
  %r172 = bitcast <2 x i64> %r171 to <2 x double>
  %r173 = bitcast <2 x double> %r172 to <2 x i64>
  %r174 = and <2 x i64> %r173, <i64 -9223372036854775808, i64 -9223372036854775808>
  %r175 = bitcast <2 x i64> %r174 to <2 x double>
  %r176 = bitcast <2 x double> %r142 to <2 x i64>
  %r177 = and <2 x i64> %r176, <i64 1, i64 1>
  %r178 = bitcast <2 x i64> %r177 to <2 x double>
  %r179 = fadd <2 x double> %r19, %r21
  %r180 = shufflevector <2 x double> %r179, <2 x double> %r166, <2 x i32> <i32 0, i32 2>
  %r181 = shufflevector <2 x double> %r179, <2 x double> %r166, <2 x i32> <i32 1, i32 3>
  store <2 x double> %r180, ptr %r32, align 8
  store <2 x double> %r181, ptr %r36, align 8
  %r182 = getelementptr <2 x double>, ptr @table, i64 5
  %r183 = load volatile <2 x double>, ptr %r182, align 16
  %r184 = fneg <2 x double> %r169
  %r185 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r184, <2 x double> %r183, <2 x double> %r17)
  %r186 = getelementptr <2 x double>, ptr @table, i64 6
  %r187 = load volatile <2 x double>, ptr %r186, align 16
  %r188 = fneg <2 x double> %r169
  %r189 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r188, <2 x double> %r187, <2 x double> %r185)
  %r190 = getelementptr <2 x double>, ptr @table, i64 7
  %r191 = load volatile <2 x double>, ptr %r190, align 16
  %r192 = fneg <2 x double> %r169
  %r193 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r192, <2 x double> %r191, <2 x double> %r189)
  %r194 = fmul <2 x double> %r193, %r193
  %r195 = getelementptr <2 x double>, ptr @table, i64 8
  %r196 = load volatile <2 x double>, ptr %r195, align 16
  %r197 = getelementptr <2 x double>, ptr @table, i64 9
  %r198 = load volatile <2 x double>, ptr %r197, align 16
  %r199 = fneg <2 x double> %r196
  %r200 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r199, <2 x double> %r194, <2 x double> %r198)
  %r201 = getelementptr <2 x double>, ptr @table, i64 10
  %r202 = load volatile <2 x double>, ptr %r201, align 16
  %r203 = fneg <2 x double> %r200
  %r204 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r203, <2 x double> %r194, <2 x double> %r202)
  %r205 = getelementptr <2 x double>, ptr @table, i64 11
  %r206 = load volatile <2 x double>, ptr %r205, align 16
  %r207 = fneg <2 x double> %r204
  %r208 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r207, <2 x double> %r194, <2 x double> %r206)
  %r209 = getelementptr <2 x double>, ptr @table, i64 12
  %r210 = load volatile <2 x double>, ptr %r209, align 16
  %r211 = fneg <2 x double> %r208
  %r212 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r211, <2 x double> %r194, <2 x double> %r210)
  %r213 = getelementptr <2 x double>, ptr @table, i64 13
  %r214 = load volatile <2 x double>, ptr %r213, align 16
  %r215 = fneg <2 x double> %r212
  %r216 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r215, <2 x double> %r194, <2 x double> %r214)
  %r217 = getelementptr <2 x double>, ptr @table, i64 14
  %r218 = load volatile <2 x double>, ptr %r217, align 16
  %r219 = fneg <2 x double> %r216
  %r220 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r219, <2 x double> %r194, <2 x double> %r218)
  %r221 = getelementptr <2 x double>, ptr @table, i64 4
  %r222 = load volatile <2 x double>, ptr %r221, align 16
  %r223 = fneg <2 x double> %r220
  %r224 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r223, <2 x double> %r194, <2 x double> %r222)
  %r225 = bitcast <2 x double> %r224 to <2 x i64>
  %r226 = bitcast <2 x double> %r175 to <2 x i64>
  %r227 = xor <2 x i64> %r225, %r226
  %r228 = bitcast <2 x i64> %r227 to <2 x double>
  %r229 = getelementptr <2 x double>, ptr @table, i64 15
  %r230 = load volatile <2 x double>, ptr %r229, align 16
  %r231 = getelementptr <2 x double>, ptr @table, i64 16
  %r232 = load volatile <2 x double>, ptr %r231, align 16
  %r233 = fneg <2 x double> %r230
  %r234 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r233, <2 x double> %r194, <2 x double> %r232)
  %r235 = getelementptr <2 x double>, ptr @table, i64 17
  %r236 = load volatile <2 x double>, ptr %r235, align 16
  %r237 = fneg <2 x double> %r234
  %r238 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r237, <2 x double> %r194, <2 x double> %r236)
  %r239 = getelementptr <2 x double>, ptr @table, i64 18
  %r240 = load volatile <2 x double>, ptr %r239, align 16
  %r241 = fneg <2 x double> %r238
  %r242 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r241, <2 x double> %r194, <2 x double> %r240)
  %r243 = getelementptr <2 x double>, ptr @table, i64 19
  %r244 = load volatile <2 x double>, ptr %r243, align 16
  %r245 = fneg <2 x double> %r242
  %r246 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r245, <2 x double> %r194, <2 x double> %r244)
  %r247 = getelementptr <2 x double>, ptr @table, i64 20
  %r248 = load volatile <2 x double>, ptr %r247, align 16
  %r249 = fneg <2 x double> %r246
  %r250 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r249, <2 x double> %r194, <2 x double> %r248)
  %r251 = fmul <2 x double> %r250, %r194
  %r252 = fneg <2 x double> %r251
  %r253 = call <2 x double> @llvm.fma.v2f64(<2 x double> %r252, <2 x double> %r193, <2 x double> %r193)
  %r254 = bitcast <2 x double> %r253 to <2 x i64>
  %r255 = bitcast <2 x double> %r175 to <2 x i64>
  %r256 = xor <2 x i64> %r254, %r255
  %r257 = bitcast <2 x i64> %r256 to <2 x double>
  %r258 = bitcast <2 x double> %r178 to <2 x i64>
  %r259 = icmp ne <2 x i64> %r258, zeroinitializer
  %r260 = select <2 x i1> %r259, <2 x double> %r228, <2 x double> %r257
  %r261 = bitcast <2 x double> %r178 to <2 x i64>
  %r262 = icmp ne <2 x i64> %r261, zeroinitializer
  %r263 = fneg <2 x double> %r257
  %r264 = select <2 x i1> %r262, <2 x double> %r263, <2 x double> %r228
  %r265 = shufflevector <2 x double> %r260, <2 x double> %r264, <2 x i32> <i32 0, i32 2>
  %r266 = shufflevector <2 x double> %r260, <2 x double> %r264, <2 x i32> <i32 1, i32 3>
  %r267 = getelementptr double, ptr %r32, i64 8
  store <2 x double> %r265, ptr %r267, align 8
  %r268 = getelementptr double, ptr %r36, i64 8
  store <2 x double> %r266, ptr %r268, align 8
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
  %copies = alloca [512 x i8], align 64
  %frame = alloca [48 x i8], align 64
  br label %start
done:
  ret void
start:
  %own0_0 = getelementptr i8, ptr %copies, i64 0
  %own0_1 = getelementptr i8, ptr %copies, i64 24
  %own1_0 = getelementptr i8, ptr %copies, i64 48
  %own1_1 = getelementptr i8, ptr %copies, i64 280
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
  %fo1_448 = add i64 %f1, 448
  %fl1_448 = getelementptr i8, ptr %fetch1, i64 %fo1_448
  call void @llvm.prefetch.p0(ptr %fl1_448, i32 1, i32 3, i32 1)
  %fn1 = add i64 %f1, 512
  %fc1 = icmp slt i64 %fn1, 464
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
  %ec1 = icmp slt i64 %en1, 29
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