import { useQuery } from "@tanstack/react-query";
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  parseSearchWith,
  stringifySearchWith,
} from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { sessionQuery } from "./api/queries";
import { useSay } from "./i18n";
import { ErrorView } from "./parts/ErrorView";
import { hubSearch, instanceSearch, instancesSearch } from "./search";
import { useSettings } from "./settings";
import { Shell } from "./shell/Shell";
import { SignIn } from "./shell/SignIn";

/** Root shows the sign-in instead of the page to whoever is not known. */
function Root() {
  const session = useQuery(sessionQuery);
  const { density } = useSettings();
  const known = useRef(false);
  useEffect(() => {
    if (session.data) known.current = true;
  }, [session.data]);
  useEffect(() => {
    document.documentElement.dataset.density = density;
  }, [density]);
  if (session.isError) return <ErrorView error={session.error} retry={() => void session.refetch()} />;
  if (session.isPending) return null;
  if (session.data === null) return <SignIn expired={known.current} />;
  return <Shell me={session.data} />;
}

function NotFound() {
  const { t } = useSay();
  return (
    <div className="page">
      <h1>{t("nav.notFound")}</h1>
      <p>
        <Link to="/">{t("nav.home")}</Link>
      </p>
    </div>
  );
}

function Broken({ error, reset }: { error: unknown; reset: () => void }) {
  const { t } = useSay();
  return (
    <div className="page">
      <h1>{t("error.crash")}</h1>
      <ErrorView error={error} retry={reset} />
    </div>
  );
}

const root = createRootRoute({ component: Root, notFoundComponent: NotFound });
const today = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("./pages/TodayPage"), "TodayPage"),
});
const instances = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: instancesSearch,
  component: lazyRouteComponent(() => import("./pages/InstancesPage"), "InstancesPage"),
});
const projects = createRoute({
  getParentRoute: () => root,
  path: "/projects",
  component: lazyRouteComponent(() => import("./pages/ProjectsPage"), "ProjectsPage"),
});
const workflows = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/workflows",
  component: lazyRouteComponent(() => import("./pages/WorkflowsPage"), "WorkflowsPage"),
});
const workflow = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/w/$workflow",
  validateSearch: hubSearch,
  component: lazyRouteComponent(() => import("./pages/WorkflowPage"), "WorkflowPage"),
});
const instance = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/r/$id",
  validateSearch: instanceSearch,
  component: lazyRouteComponent(() => import("./pages/InstancePage"), "InstancePage"),
});

const tree = root.addChildren([today, instances, projects, workflows, workflow, instance]);

export function makeRouter() {
  return createRouter({
    routeTree: tree,
    basepath: new URL(document.baseURI).pathname,
    // Search parameters are plain text, so that an address can be read and written by hand.
    parseSearch: parseSearchWith((text) => text),
    stringifySearch: stringifySearchWith(String),
    defaultPreload: "intent",
    defaultErrorComponent: Broken,
    scrollRestoration: false,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
