import { type FormErrors, type UseFormInput, useForm } from "@mantine/form";
import { useEffect } from "react";
import { Problem } from "@/api/problem";

/**
 * Mantine's form that also marks the field of a server error.
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
  return form;
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
