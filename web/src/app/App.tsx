import { I18nProvider } from "@lingui/react";
import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { ModalsProvider } from "@mantine/modals";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { IdentityConfirmation } from "@/features/signin/IdentityConfirmation";
import { i18n } from "@/i18n";
import { QUESTIONS, theme } from "@/theme/theme";
import { queryClient } from "./query-client";
import { router } from "./router";

const schemes = localStorageColorSchemeManager({ key: "carrel.theme" });

export function App() {
  return (
    <I18nProvider i18n={i18n}>
      <MantineProvider theme={theme} colorSchemeManager={schemes} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <ModalsProvider modalProps={QUESTIONS}>
            <Notifications position="bottom-right" limit={4} />
            <RouterProvider router={router} />
            <IdentityConfirmation />
          </ModalsProvider>
        </QueryClientProvider>
      </MantineProvider>
    </I18nProvider>
  );
}
