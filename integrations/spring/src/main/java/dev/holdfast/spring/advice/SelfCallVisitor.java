package dev.holdfast.spring.advice;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Reports the calls of a class to itself. A call counts if its receiver can only be {@code this}, because the calling
 * method uses no other possible instance of the class: no parameter, field, result, cast or new object.
 */
final class SelfCallVisitor extends ClassVisitor {

    private final List<String> owners;
    private final BiConsumer<String, String> calls;

    /**
     * @param owners the class and its superclasses, by their internal names
     * @param calls receives name with descriptor of the caller and of the method it calls
     */
    SelfCallVisitor(List<String> owners, BiConsumer<String, String> calls) {
        super(SpringAsmInfo.ASM_VERSION);
        this.owners = owners;
        this.calls = calls;
    }

    @Override
    public @Nullable MethodVisitor visitMethod(
            int access, String name, String descriptor, @Nullable String signature, String @Nullable [] exceptions) {
        boolean hasThis = (access & Opcodes.ACC_STATIC) == 0;
        boolean isBridge = (access & Opcodes.ACC_BRIDGE) != 0;
        boolean hasOther = Arrays.stream(Type.getArgumentTypes(descriptor)).anyMatch(this::isOwn);
        return hasThis && !isBridge && !hasOther ? new Body(name + descriptor) : null;
    }

    private boolean isOwn(Type type) {
        Type element = type.getSort() == Type.ARRAY ? type.getElementType() : type;
        return element.getSort() == Type.OBJECT && owners.contains(element.getInternalName());
    }

    /** The code of one method. */
    private final class Body extends MethodVisitor {

        private final String caller;
        private final List<String> callees = new ArrayList<>();
        private boolean hasOther;

        Body(String caller) {
            super(SpringAsmInfo.ASM_VERSION);
            this.caller = caller;
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            hasOther |= isOwn(Type.getReturnType(descriptor));
            if (opcode == Opcodes.INVOKEVIRTUAL && owners.contains(owner)) {
                callees.add(name + descriptor);
            }
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            boolean hasReceiver =
                    Arrays.stream(Type.getArgumentTypes(descriptor)).anyMatch(SelfCallVisitor.this::isOwn);
            for (Object argument : arguments) {
                if (hasReceiver
                        && argument instanceof Handle handle
                        && handle.getTag() == Opcodes.H_INVOKEVIRTUAL
                        && owners.contains(handle.getOwner())) {
                    callees.add(handle.getName() + handle.getDesc());
                }
            }
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            boolean isRead = opcode == Opcodes.GETFIELD || opcode == Opcodes.GETSTATIC;
            hasOther |= isRead && isOwn(Type.getType(descriptor));
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            boolean isMade = opcode == Opcodes.NEW || opcode == Opcodes.CHECKCAST;
            hasOther |= isMade && isOwn(Type.getObjectType(type));
        }

        @Override
        public void visitEnd() {
            if (!hasOther) {
                callees.forEach(callee -> calls.accept(caller, callee));
            }
        }
    }
}
