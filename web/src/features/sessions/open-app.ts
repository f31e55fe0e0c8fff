import { Problem } from "@/api/problem";
import { openAppAddress } from "@/queries/apps";

interface Texts {
  title: string;
  waiting: string;
  blocked: string;
  blockedHint: string;
}

/**
 * Opens an app of a session in a new tab.
 *
 * Opens the tab synchronously in the click handler, since browsers block later ones; it shows a progress
 * message until the address is known.
 *
 * Raises: Problem when the browser blocked the tab or the app could not be started; the tab is closed again.
 */
export async function openApp(sessionId: string, app: string, texts: Texts): Promise<void> {
  const tab = window.open("", "_blank");
  if (!tab) {
    throw new Problem({
      status: 400,
      code: "browser.popup_blocked",
      detail: texts.blocked,
      hint: texts.blockedHint,
    });
  }
  writeWaiting(tab.document, texts);
  try {
    const address = await openAppAddress(sessionId, app);
    // Prevents the app from accessing this page.
    tab.opener = null;
    tab.location.replace(address);
  } catch (problem) {
    tab.close();
    throw problem;
  }
}

function writeWaiting(page: Document, texts: Texts): void {
  page.title = texts.title;
  const isDark = document.documentElement.dataset.mantineColorScheme === "dark";
  page.documentElement.style.colorScheme = isDark ? "dark" : "light";
  page.body.style.cssText =
    "margin:0;min-height:100vh;display:grid;place-content:center;gap:1rem;text-align:center;" +
    `font:16px/1.5 system-ui,sans-serif;${isDark ? "color:#e4e8e5;background:#121614" : "color:#1e2421;background:#f5f3ec"}`;
  const bar = page.createElement("progress");
  bar.style.cssText = "width:16rem;accent-color:#1a6348";
  bar.setAttribute("aria-label", texts.waiting);
  const line = page.createElement("p");
  line.setAttribute("role", "status");
  line.textContent = texts.waiting;
  page.body.replaceChildren(line, bar);
}
