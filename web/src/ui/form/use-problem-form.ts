import { type FormErrors, type UseFormInput, type UseFormReturnType, useForm } from "@mantine/form";
import { useEffect, useRef } from "react";
import { Problem } from "@/api/problem";
import { useUnsavedInput } from "./unsaved-input";

/**
 * Mantine's form that also marks the field of a server error. Drawers and dialogs ask before its unsaved
 * input is lost.
 *
 * The form's alert shows the message with the next step; the field is only marked. A problem's `field` may be
 * a path ("slots.cpu"): each part is tried as a field of the form.
 */
export function useProblemForm<Values extends Record<string, unknown>>(
  input: UseFormInput<Values>,
  thrown: unknown,
) {
  const form = useForm<Values>(input);
  const { setFieldError, getValues } = form;
  useEffect(() => {
    if (!(thrown instanceof Problem) || thrown.field === null) return;
    const field = fieldOf(thrown.field, Object.keys(getValues()));
    if (field) setFieldError(field, true);
  }, [thrown, setFieldError, getValues]);
  return useGuarded(form, thrown);
}

/** The same form, whose unsaved input is guarded; what has been sent is not unsaved. */
function useGuarded<Values extends Record<string, unknown>>(
  form: UseFormReturnType<Values>,
  thrown: unknown,
): UseFormReturnType<Values> {
  const sent = useRef<Values | null>(null);
  if (thrown) sent.current = null;
  useUnsavedInput(() => sent.current !== form.getValues() && form.isDirty());
  return {
    ...form,
    onSubmit: (send, refuse) =>
      form.onSubmit((...submission) => {
        sent.current = form.getValues();
        send(...submission);
      }, refuse),
  };
}

/** The form field that a server error names, if the form has it. */
export function fieldOf(named: string, fields: string[]): string | undefined {
  const parts = named.split(".");
  return fields.find((field) => parts.includes(field));
}

/** For `form.onSubmit`: focuses the first invalid field. */
export function focusFirst(form: { getInputNode: (path: string) => HTMLElement | null }) {
  return (errors: FormErrors) => form.getInputNode(Object.keys(errors)[0] ?? "")?.focus();
}
