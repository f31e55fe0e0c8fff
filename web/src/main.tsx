import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./theme/fonts.css";
import "./theme/tokens.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { retryStylesheets } from "./app/stylesheets";
import { activateLanguage, preferredLanguage } from "./i18n";

async function start(): Promise<void> {
  retryStylesheets();
  await activateLanguage(preferredLanguage());
  createRoot(document.getElementById("root") as HTMLElement).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

void start();
