// The theme, before anything is painted: a dark page must not begin with a white flash. The
// page's policy allows no inline script, so this one is a file; the console's own code keeps it up to date.
(() => {
  let kept = null;
  try {
    kept = localStorage.getItem("porpoise.theme");
  } catch {
    // Storage is off: the system's choice stands.
  }
  const dark = kept === "dark" || (kept !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
