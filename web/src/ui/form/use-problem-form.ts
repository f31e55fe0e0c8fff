import { type FormErrors, type UseFormInput, useForm } from "@mantine/form";
import { useEffect } from "react";
import { Problem } from "@/api/problem";

/**
 * Mantine's form that also marks the field which the server found fault with.
 *
 * The sentence itself belongs into the form's alert, with the next step; the field is only marked. A problem's `field`
 * may be a path ("slots.cpu"): each part is tried as a field of the form.
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

/** The field of the form that the server means, if it has it. */
export function fieldOf(named: string, fields: string[]): string | undefined {
  const parts = named.split(".");
  return fields.find((field) => parts.includes(field));
}

/** For `form.onSubmit`: goes to the first field that is wrong. */
export function focusFirst(form: { getInputNode: (path: string) => HTMLElement | null }) {
  return (errors: FormErrors) => form.getInputNode(Object.keys(errors)[0] ?? "")?.focus();
}
