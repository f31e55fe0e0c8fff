// Sets the colour scheme before the first paint. It is a file of its own because the page's policy allows no inline script.
(() => {
  let chosen = "auto";
  try {
    chosen = localStorage.getItem("carrel.theme") || "auto";
  } catch {
    // Storage may be blocked; then the system's scheme is used.
  }
  const dark =
    chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
