// @vitest-environment happy-dom
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { MantineProvider } from "@mantine/core";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, test, vi } from "vitest";
import { Problem } from "@/api/problem";
import { Form } from "@/ui/form/Form";

vi.hoisted(() => Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true }));

test("each error of a form comes into view, and nothing else moves it", () => {
  i18n.loadAndActivate({ locale: "en", messages: {} });
  const scrolled = vi.fn();
  Element.prototype.scrollIntoView = scrolled;
  const root = createRoot(document.createElement("div"));
  const show = (problem: unknown, busy = false) =>
    act(() =>
      root.render(
        <I18nProvider i18n={i18n}>
          <MantineProvider>
            <Form onSubmit={() => {}} submit="Send" busy={busy} problem={problem}>
              <p>field</p>
            </Form>
          </MantineProvider>
        </I18nProvider>,
      ),
    );
  const refused = () => new Problem({ status: 422, code: "x", detail: "" });
  show(null);
  expect(scrolled).toHaveBeenCalledTimes(0);
  const first = refused();
  show(first);
  expect(scrolled).toHaveBeenCalledTimes(1);
  show(first, true);
  expect(scrolled).toHaveBeenCalledTimes(1);
  show(refused());
  expect(scrolled).toHaveBeenCalledTimes(2);
  act(() => root.unmount());
});
