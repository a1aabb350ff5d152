// Asks for what an address will need while the console's own code is still on its way: the session,
// the page's files, and of an instance, a grid and a schedule its data. It only asks the browser to have them ready: who wants
// them asks as ever, and finds them there. The page's policy allows no inline script, so this one is a file.
(() => {
  const base = new URL(document.baseURI);
  const path = location.pathname.slice(base.pathname.length);
  const ready = (rel, href, as) => {
    const link = document.createElement("link");
    link.rel = rel;
    if (as) link.as = as;
    link.crossOrigin = "anonymous";
    link.href = new URL(href, base).href;
    document.head.append(link);
  };
  // The addresses of src/router.tsx whose page is worth the haste.
  const pages = {
    TodayPage: /^$/,
    InstancesPage: /^runs$/,
    InstancePage: /^p\/[^/]+\/r\/([^/]+)$/,
    WorkflowPage: /^p\/([^/]+)\/w\/([^/]+)$/,
    GridPanel: /^p\/([^/]+)\/w\/([^/]+)$/,
    SchedulePage: /^p\/([^/]+)\/w\/([^/]+)\/s\/([^/]+)$/,
    EditorPage: /^p\/[^/]+\/w\/[^/]+\/edit$/,
  };
  ready("preload", "api/v1/session", "fetch");
  const search = new URLSearchParams(location.search);
  // A workflow opens on its grid, unless the address says otherwise.
  if (!["grid", null].includes(search.get("tab"))) delete pages.GridPanel;
  for (const [page, address] of Object.entries(pages)) {
    const found = address.exec(path);
    if (!found) continue;
    if (page === "InstancePage") ready("preload", `api/v1/instances/${found[1]}/view?drawing=true`, "fetch");
    if (page === "WorkflowPage") ready("preload", `api/v1/projects/${found[1]}/workflows/${found[2]}`, "fetch");
    if (page === "GridPanel" && !["only", "n", "until"].some((k) => search.has(k)))
      ready("preload", `api/v1/projects/${found[1]}/workflows/${found[2]}/grid?limit=30`, "fetch");
    if (page === "SchedulePage") {
      const one = `api/v1/projects/${found[1]}/workflows/${found[2]}/schedules/${found[3]}`;
      ready("preload", `${one}?n=100`, "fetch");
      if (!search.has("span") && !search.has("month")) ready("preload", `${one}/fires/days?span=${new Date().getFullYear()}`, "fetch");
    }
    // The build writes the names of its files into the index.
    const files = document.querySelector(`meta[name="ahead"][data-page="${page}"]`)?.content ?? "";
    for (const file of files.split(" ").filter(Boolean)) {
      if (file.endsWith(".css")) ready("preload", file, "style");
      else ready("modulepreload", file);
    }
  }
})();
