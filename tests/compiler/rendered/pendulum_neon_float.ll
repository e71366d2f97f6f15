@table = internal global [16 x <4 x float>] [<4 x float> <float 0x4202A05F20000000, float 0x4202A05F20000000, float 0x4202A05F20000000, float 0x4202A05F20000000>, <4 x float> <float 0x3FE45F3060000000, float 0x3FE45F3060000000, float 0x3FE45F3060000000, float 0x3FE45F3060000000>, <4 x float> <float 0x4168000000000000, float 0x4168000000000000, float 0x4168000000000000, float 0x4168000000000000>, <4 x float> <float 0x3FF921FB40000000, float 0x3FF921FB40000000, float 0x3FF921FB40000000, float 0x3FF921FB40000000>, <4 x float> <float 0x3E74442D00000000, float 0x3E74442D00000000, float 0x3E74442D00000000, float 0x3E74442D00000000>, <4 x float> <float 0x3CF8469880000000, float 0x3CF8469880000000, float 0x3CF8469880000000, float 0x3CF8469880000000>, <4 x float> <float 0x3F29943F20000000, float 0x3F29943F20000000, float 0x3F29943F20000000, float 0x3F29943F20000000>, <4 x float> <float 0x3F811073C0000000, float 0x3F811073C0000000, float 0x3F811073C0000000, float 0x3F811073C0000000>, <4 x float> <float 0x3EF99EB9C0000000, float 0x3EF99EB9C0000000, float 0x3EF99EB9C0000000, float 0x3EF99EB9C0000000>, <4 x float> <float 0x3F56C0C340000000, float 0x3F56C0C340000000, float 0x3F56C0C340000000, float 0x3F56C0C340000000>, <4 x float> <float 0x3FC5555460000000, float 0x3FC5555460000000, float 0x3FC5555460000000, float 0x3FC5555460000000>, <4 x float> <float 0x3FA55554A0000000, float 0x3FA55554A0000000, float 0x3FA55554A0000000, float 0x3FA55554A0000000>, <4 x float> <float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000, float 0x3FE0000000000000>, <4 x float> <float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000, float 0x3FF0000000000000>, <4 x float> <float 0x40239EB860000000, float 0x40239EB860000000, float 0x40239EB860000000, float 0x40239EB860000000>, <4 x float> <float 0x3FB99999A0000000, float 0x3FB99999A0000000, float 0x3FB99999A0000000, float 0x3FB99999A0000000>], align 64
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <4 x float> @llvm.sqrt.v4f32(<4 x float>)
declare <4 x float> @llvm.fabs.v4f32(<4 x float>)
declare <4 x float> @llvm.floor.v4f32(<4 x float>)
declare <4 x float> @llvm.minimum.v4f32(<4 x float>, <4 x float>)
declare <4 x float> @llvm.maximum.v4f32(<4 x float>, <4 x float>)
declare <4 x float> @llvm.copysign.v4f32(<4 x float>, <4 x float>)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <4 x float> @llvm.masked.load.v4f32.p0(ptr, i32, <4 x i1>, <4 x float>)
declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, i32, <4 x i1>)
declare float @llvm.fabs.f32(float)
declare i1 @llvm.vector.reduce.or.v4i1(<4 x i1>)
declare float @sinf(float)
declare float @cosf(float)
declare float @asinf(float)
declare float @acosf(float)
declare float @expf(float)
declare float @logf(float)
declare float @tanhf(float)
declare float @atan2f(float, float)
declare float @powf(float, float)
define internal <4 x float> @slow_angle(<4 x float> %x) cold noinline {
entry:
  br label %lane
lane:
  %k = phi i32 [ 0, %entry ], [ %next, %lane ]
  %before = phi <4 x float> [ %x, %entry ], [ %after, %lane ]
  %angle = extractelement <4 x float> %x, i32 %k
  %size = call float @llvm.fabs.f32(float %angle)
  %far = fcmp ogt float %size, 0x40F86A0000000000
  %s = call float @sinf(float %angle)
  %c = call float @cosf(float %angle)
  %a = call float @atan2f(float %s, float %c)
  %near = select i1 %far, float %a, float %angle
  %after = insertelement <4 x float> %before, float %near, i32 %k
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, 4
  br i1 %more, label %lane, label %done
done:
  ret <4 x float> %after
}
define internal void @segment0(ptr noalias %in, ptr noalias %out, ptr noalias %frame) {
entry:
  %r1 = getelementptr ptr, ptr %in, i64 0
  %r2 = load ptr, ptr %r1, align 8
  %r3 = getelementptr float, ptr %r2, i64 1
  %r4 = load float, ptr %r3, align 4
  %r5 = insertelement <4 x float> poison, float %r4, i32 0
  %r6 = getelementptr ptr, ptr %in, i64 1
  %r7 = load ptr, ptr %r6, align 8
  %r8 = getelementptr float, ptr %r7, i64 1
  %r9 = load float, ptr %r8, align 4
  %r10 = insertelement <4 x float> %r5, float %r9, i32 1
  %r11 = getelementptr ptr, ptr %in, i64 2
  %r12 = load ptr, ptr %r11, align 8
  %r13 = getelementptr float, ptr %r12, i64 1
  %r14 = load float, ptr %r13, align 4
  %r15 = insertelement <4 x float> %r10, float %r14, i32 2
  %r16 = getelementptr ptr, ptr %in, i64 3
  %r17 = load ptr, ptr %r16, align 8
  %r18 = getelementptr float, ptr %r17, i64 1
  %r19 = load float, ptr %r18, align 4
  %r20 = insertelement <4 x float> %r15, float %r19, i32 3
  %r21 = extractelement <4 x float> %r20, i32 0
  %r22 = getelementptr ptr, ptr %out, i64 0
  %r23 = load ptr, ptr %r22, align 8
  store float %r21, ptr %r23, align 4
  %r24 = extractelement <4 x float> %r20, i32 1
  %r25 = getelementptr ptr, ptr %out, i64 1
  %r26 = load ptr, ptr %r25, align 8
  store float %r24, ptr %r26, align 4
  %r27 = extractelement <4 x float> %r20, i32 2
  %r28 = getelementptr ptr, ptr %out, i64 2
  %r29 = load ptr, ptr %r28, align 8
  store float %r27, ptr %r29, align 4
  %r30 = extractelement <4 x float> %r20, i32 3
  %r31 = getelementptr ptr, ptr %out, i64 3
  %r32 = load ptr, ptr %r31, align 8
  store float %r30, ptr %r32, align 4
  %r33 = load float, ptr %r2, align 4
  %r34 = insertelement <4 x float> poison, float %r33, i32 0
  %r35 = load float, ptr %r7, align 4
  %r36 = insertelement <4 x float> %r34, float %r35, i32 1
  %r37 = load float, ptr %r12, align 4
  %r38 = insertelement <4 x float> %r36, float %r37, i32 2
  %r39 = load float, ptr %r17, align 4
  %r40 = insertelement <4 x float> %r38, float %r39, i32 3
  %r41 = getelementptr <4 x float>, ptr %frame, i64 1
  store volatile <4 x float> %r20, ptr %r41, align 16
  %r42 = fmul <4 x float> %r40, %r40
  %r43 = getelementptr <4 x float>, ptr @table, i64 0
  %r44 = load volatile <4 x float>, ptr %r43, align 16
  %r45 = fcmp ogt <4 x float> %r42, %r44
  %r46 = call i1 @llvm.vector.reduce.or.v4i1(<4 x i1> %r45)
  br i1 %r46, label %far46, label %near46, !prof !0
far46:
  %r47 = call <4 x float> @slow_angle(<4 x float> %r40)
  br label %near46
near46:
  %r48 = phi <4 x float> [ %r40, %entry ], [ %r47, %far46 ]
  %r49 = getelementptr <4 x float>, ptr @table, i64 1
  %r50 = load volatile <4 x float>, ptr %r49, align 16
  %r51 = getelementptr <4 x float>, ptr @table, i64 2
  %r52 = load volatile <4 x float>, ptr %r51, align 16
  %r53 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r48, <4 x float> %r50, <4 x float> %r52)
  %r54 = getelementptr <4 x float>, ptr @table, i64 2
  %r55 = load volatile <4 x float>, ptr %r54, align 16
  %r56 = fsub <4 x float> %r53, %r55
  %r57 = bitcast <4 x float> %r53 to <4 x i32>
  %r58 = shl <4 x i32> %r57, <i32 30, i32 30, i32 30, i32 30>
  %r59 = bitcast <4 x i32> %r58 to <4 x float>
  %r60 = bitcast <4 x float> %r59 to <4 x i32>
  %r61 = and <4 x i32> %r60, <i32 -2147483648, i32 -2147483648, i32 -2147483648, i32 -2147483648>
  %r62 = bitcast <4 x i32> %r61 to <4 x float>
  %r63 = bitcast <4 x float> %r53 to <4 x i32>
  %r64 = and <4 x i32> %r63, <i32 1, i32 1, i32 1, i32 1>
  %r65 = bitcast <4 x i32> %r64 to <4 x float>
  %r66 = getelementptr <4 x float>, ptr @table, i64 3
  %r67 = load volatile <4 x float>, ptr %r66, align 16
  %r68 = fneg <4 x float> %r56
  %r69 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r68, <4 x float> %r67, <4 x float> %r48)
  %r70 = getelementptr <4 x float>, ptr @table, i64 4
  %r71 = load volatile <4 x float>, ptr %r70, align 16
  %r72 = fneg <4 x float> %r56
  %r73 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r72, <4 x float> %r71, <4 x float> %r69)
  %r74 = getelementptr <4 x float>, ptr @table, i64 5
  %r75 = load volatile <4 x float>, ptr %r74, align 16
  %r76 = fneg <4 x float> %r56
  %r77 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r76, <4 x float> %r75, <4 x float> %r73)
  %r78 = fmul <4 x float> %r77, %r77
  %r79 = getelementptr <4 x float>, ptr @table, i64 6
  %r80 = load volatile <4 x float>, ptr %r79, align 16
  %r81 = getelementptr <4 x float>, ptr @table, i64 7
  %r82 = load volatile <4 x float>, ptr %r81, align 16
  %r83 = fneg <4 x float> %r80
  %r84 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r83, <4 x float> %r78, <4 x float> %r82)
  %r85 = getelementptr <4 x float>, ptr @table, i64 8
  %r86 = load volatile <4 x float>, ptr %r85, align 16
  %r87 = getelementptr <4 x float>, ptr @table, i64 9
  %r88 = load volatile <4 x float>, ptr %r87, align 16
  %r89 = fneg <4 x float> %r86
  %r90 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r89, <4 x float> %r78, <4 x float> %r88)
  %r91 = getelementptr <4 x float>, ptr @table, i64 10
  %r92 = load volatile <4 x float>, ptr %r91, align 16
  %r93 = fneg <4 x float> %r84
  %r94 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r93, <4 x float> %r78, <4 x float> %r92)
  %r95 = getelementptr <4 x float>, ptr @table, i64 11
  %r96 = load volatile <4 x float>, ptr %r95, align 16
  %r97 = fneg <4 x float> %r90
  %r98 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r97, <4 x float> %r78, <4 x float> %r96)
  %r99 = fmul <4 x float> %r94, %r78
  %r100 = getelementptr <4 x float>, ptr @table, i64 12
  %r101 = load volatile <4 x float>, ptr %r100, align 16
  %r102 = fneg <4 x float> %r98
  %r103 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r102, <4 x float> %r78, <4 x float> %r101)
  %r104 = fneg <4 x float> %r99
  %r105 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r104, <4 x float> %r77, <4 x float> %r77)
  %r106 = getelementptr <4 x float>, ptr @table, i64 13
  %r107 = load volatile <4 x float>, ptr %r106, align 16
  %r108 = fneg <4 x float> %r103
  %r109 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r108, <4 x float> %r78, <4 x float> %r107)
  %r110 = bitcast <4 x float> %r105 to <4 x i32>
  %r111 = bitcast <4 x float> %r62 to <4 x i32>
  %r112 = xor <4 x i32> %r110, %r111
  %r113 = bitcast <4 x i32> %r112 to <4 x float>
  %r114 = bitcast <4 x float> %r109 to <4 x i32>
  %r115 = bitcast <4 x float> %r62 to <4 x i32>
  %r116 = xor <4 x i32> %r114, %r115
  %r117 = bitcast <4 x i32> %r116 to <4 x float>
  %r118 = bitcast <4 x float> %r65 to <4 x i32>
  %r119 = icmp ne <4 x i32> %r118, zeroinitializer
  %r120 = select <4 x i1> %r119, <4 x float> %r117, <4 x float> %r113
  %r121 = bitcast <4 x float> %r65 to <4 x i32>
  %r122 = icmp ne <4 x i32> %r121, zeroinitializer
  %r123 = fneg <4 x float> %r113
  %r124 = select <4 x i1> %r122, <4 x float> %r123, <4 x float> %r117
  %r125 = getelementptr <4 x float>, ptr @table, i64 14
  %r126 = load volatile <4 x float>, ptr %r125, align 16
  %r127 = fmul <4 x float> %r126, %r120
  %r128 = getelementptr <4 x float>, ptr %frame, i64 1
  %r129 = load volatile <4 x float>, ptr %r128, align 16
  %r130 = fmul <4 x float> %r129, %r124
  %r131 = getelementptr <4 x float>, ptr @table, i64 15
  %r132 = load volatile <4 x float>, ptr %r131, align 16
  %r133 = call <4 x float> @llvm.fma.v4f32(<4 x float> %r132, <4 x float> %r130, <4 x float> %r127)
  %r134 = fneg <4 x float> %r133
  %r135 = extractelement <4 x float> %r134, i32 0
  %r136 = getelementptr float, ptr %r23, i64 1
  store float %r135, ptr %r136, align 4
  %r137 = extractelement <4 x float> %r134, i32 1
  %r138 = getelementptr float, ptr %r26, i64 1
  store float %r137, ptr %r138, align 4
  %r139 = extractelement <4 x float> %r134, i32 2
  %r140 = getelementptr float, ptr %r29, i64 1
  store float %r139, ptr %r140, align 4
  %r141 = extractelement <4 x float> %r134, i32 3
  %r142 = getelementptr float, ptr %r32, i64 1
  store float %r141, ptr %r142, align 4
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
  %is0_0 = icmp eq i64 %core0_0, 4
  %all0_0 = and i1 true, %is0_0
  %pc1_0 = getelementptr i64, ptr %steps, i64 5
  %core1_0 = load i64, ptr %pc1_0, align 8
  %is1_0 = icmp eq i64 %core1_0, 4
  %all1_0 = and i1 true, %is1_0
  %pc2_0 = getelementptr i64, ptr %steps, i64 6
  %core2_0 = load i64, ptr %pc2_0, align 8
  %is2_0 = icmp eq i64 %core2_0, 4
  %all2_0 = and i1 true, %is2_0
  %pc3_0 = getelementptr i64, ptr %steps, i64 7
  %core3_0 = load i64, ptr %pc3_0, align 8
  %is3_0 = icmp eq i64 %core3_0, 4
  %all3_0 = and i1 true, %is3_0
  %copies = alloca [96 x i8], align 64
  %frame = alloca [32 x i8], align 64
  br label %start
done:
  ret void
start:
  %own0_0 = getelementptr i8, ptr %copies, i64 0
  %own0_1 = getelementptr i8, ptr %copies, i64 8
  %own0_2 = getelementptr i8, ptr %copies, i64 16
  %own0_3 = getelementptr i8, ptr %copies, i64 24
  %own1_0 = getelementptr i8, ptr %copies, i64 32
  %own1_1 = getelementptr i8, ptr %copies, i64 36
  %own1_2 = getelementptr i8, ptr %copies, i64 40
  %own1_3 = getelementptr i8, ptr %copies, i64 44
  %own2_0 = getelementptr i8, ptr %copies, i64 48
  %own2_1 = getelementptr i8, ptr %copies, i64 52
  %own2_2 = getelementptr i8, ptr %copies, i64 56
  %own2_3 = getelementptr i8, ptr %copies, i64 60
  %own3_0 = getelementptr i8, ptr %copies, i64 64
  %own3_1 = getelementptr i8, ptr %copies, i64 72
  %own3_2 = getelementptr i8, ptr %copies, i64 80
  %own3_3 = getelementptr i8, ptr %copies, i64 88
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
  %here0_0 = getelementptr float, ptr %own0_0, i64 %e0
  %x0_0 = load float, ptr %there0_0, align 4
  store float %x0_0, ptr %here0_0, align 4
  %there0_1 = getelementptr i8, ptr %at0_1, i64 %eo0
  %here0_1 = getelementptr float, ptr %own0_1, i64 %e0
  %x0_1 = load float, ptr %there0_1, align 4
  store float %x0_1, ptr %here0_1, align 4
  %there0_2 = getelementptr i8, ptr %at0_2, i64 %eo0
  %here0_2 = getelementptr float, ptr %own0_2, i64 %e0
  %x0_2 = load float, ptr %there0_2, align 4
  store float %x0_2, ptr %here0_2, align 4
  %there0_3 = getelementptr i8, ptr %at0_3, i64 %eo0
  %here0_3 = getelementptr float, ptr %own0_3, i64 %e0
  %x0_3 = load float, ptr %there0_3, align 4
  store float %x0_3, ptr %here0_3, align 4
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
  %here1_0 = getelementptr float, ptr %own1_0, i64 %e1
  %x1_0 = load float, ptr %there1_0, align 4
  store float %x1_0, ptr %here1_0, align 4
  %there1_1 = getelementptr i8, ptr %at1_1, i64 %eo1
  %here1_1 = getelementptr float, ptr %own1_1, i64 %e1
  %x1_1 = load float, ptr %there1_1, align 4
  store float %x1_1, ptr %here1_1, align 4
  %there1_2 = getelementptr i8, ptr %at1_2, i64 %eo1
  %here1_2 = getelementptr float, ptr %own1_2, i64 %e1
  %x1_2 = load float, ptr %there1_2, align 4
  store float %x1_2, ptr %here1_2, align 4
  %there1_3 = getelementptr i8, ptr %at1_3, i64 %eo1
  %here1_3 = getelementptr float, ptr %own1_3, i64 %e1
  %x1_3 = load float, ptr %there1_3, align 4
  store float %x1_3, ptr %here1_3, align 4
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
  %here2_0 = getelementptr float, ptr %own2_0, i64 %e2
  %x2_0 = load float, ptr %there2_0, align 4
  store float %x2_0, ptr %here2_0, align 4
  %there2_1 = getelementptr i8, ptr %at2_1, i64 %eo2
  %here2_1 = getelementptr float, ptr %own2_1, i64 %e2
  %x2_1 = load float, ptr %there2_1, align 4
  store float %x2_1, ptr %here2_1, align 4
  %there2_2 = getelementptr i8, ptr %at2_2, i64 %eo2
  %here2_2 = getelementptr float, ptr %own2_2, i64 %e2
  %x2_2 = load float, ptr %there2_2, align 4
  store float %x2_2, ptr %here2_2, align 4
  %there2_3 = getelementptr i8, ptr %at2_3, i64 %eo2
  %here2_3 = getelementptr float, ptr %own2_3, i64 %e2
  %x2_3 = load float, ptr %there2_3, align 4
  store float %x2_3, ptr %here2_3, align 4
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
  %here3_0 = getelementptr float, ptr %own3_0, i64 %e3
  %x3_0 = load float, ptr %here3_0, align 4
  store float %x3_0, ptr %there3_0, align 4
  %there3_1 = getelementptr i8, ptr %at3_1, i64 %eo3
  %here3_1 = getelementptr float, ptr %own3_1, i64 %e3
  %x3_1 = load float, ptr %here3_1, align 4
  store float %x3_1, ptr %there3_1, align 4
  %there3_2 = getelementptr i8, ptr %at3_2, i64 %eo3
  %here3_2 = getelementptr float, ptr %own3_2, i64 %e3
  %x3_2 = load float, ptr %here3_2, align 4
  store float %x3_2, ptr %there3_2, align 4
  %there3_3 = getelementptr i8, ptr %at3_3, i64 %eo3
  %here3_3 = getelementptr float, ptr %own3_3, i64 %e3
  %x3_3 = load float, ptr %here3_3, align 4
  store float %x3_3, ptr %there3_3, align 4
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