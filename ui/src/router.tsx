import { type QueryClient, useQuery } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  parseSearchWith,
  redirect,
  stringifySearchWith,
} from "@tanstack/react-router";
import { Suspense, useEffect, useState } from "react";
import type { Me } from "./api/client";
import { gridOf, gridQuery } from "./api/grid";
import { sessionQuery, viewQuery, workflowQuery } from "./api/queries";
import { scheduleQuery, spanQuery } from "./api/schedules";
import { GridPanel } from "./grid/panel";
import { useSay } from "./i18n";
import { ErrorView } from "./parts/ErrorView";
import { piece } from "./parts/piece";
import { editorSearch, instanceSearch, instancesSearch } from "./search";
import { membersSearch, profileSearch, projectsSearch, workflowsSearch } from "./searchAccount";
import { approvalsSearch } from "./searchApproval";
import { clusterSearch } from "./searchCluster";
import {
  adminSearch,
  allSchedulesSearch,
  lineageSearch,
  listenersSearch,
  resourcesSearch,
  settingsSearch,
  tasksSearch,
  todaySearch,
} from "./searchPages";
import { scheduleSearch, schedulesSearch, timersSearch, workflowSearch } from "./searchSchedule";
import { settings, useSettings } from "./settings";
import { Person } from "./shell/me";
import { Shell } from "./shell/Shell";
import { SignIn } from "./shell/SignIn";
import { Waiting } from "./shell/Waiting";

// What is seen once in the life of an account is no part of the shell.
const SetUp = piece(() => import("./shell/SetUp").then((m) => m.SetUp));
const FirstPassword = piece(() => import("./shell/FirstPassword").then((m) => m.FirstPassword));

/** Root shows the sign-in instead of the page to whoever is not known. */
function Root() {
  const session = useQuery(sessionQuery);
  const { density } = useSettings();
  const [known, setKnown] = useState<Me>();
  if (session.data && session.data !== known) {
    // Another person must not see what the one before had open.
    if (known && known.user_id !== session.data.user_id) location.reload();
    setKnown(session.data);
  }
  useEffect(() => {
    document.documentElement.dataset.density = density;
  }, [density]);
  // A server that does not answer for a while takes no page away.
  if (session.isError && !known) return <ErrorView error={session.error} retry={() => void session.refetch()} />;
  if (session.isPending) return <Waiting />;
  if (session.data?.must_change_password) {
    const { name, set_up } = session.data;
    return <Suspense>{set_up ? <SetUp suggested={name} /> : <FirstPassword name={name} />}</Suspense>;
  }
  const ended = session.data === null;
  if (!known || known.must_change_password) return <SignIn expired={false} />;
  // What was being written stays in the page behind the sign-in.
  return (
    <>
      <div inert={ended} hidden={ended} className="whole">
        <Person value={known}>
          <Shell me={known} />
        </Person>
      </div>
      {ended && <SignIn expired />}
    </>
  );
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

const root = createRootRouteWithContext<{ client: QueryClient }>()({ component: Root, notFoundComponent: NotFound });
const today = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: todaySearch,
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
  validateSearch: projectsSearch,
  component: lazyRouteComponent(() => import("./pages/ProjectsPage"), "ProjectsPage"),
});
const workflows = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/workflows",
  validateSearch: workflowsSearch,
  component: lazyRouteComponent(() => import("./pages/WorkflowsPage"), "WorkflowsPage"),
});
const workflow = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/w/$workflow",
  validateSearch: workflowSearch,
  loaderDeps: ({ search: { tab, only, n, until } }) => ({ tab, only, n, until }),
  // Asked for while the page's code and the session are still on their way, as an instance is.
  loader: ({ context, params: { project, workflow }, deps }) => {
    void context.client.prefetchQuery(workflowQuery(project, workflow));
    if (deps.tab !== undefined && deps.tab !== "grid") return undefined;
    void context.client.prefetchQuery(gridQuery(gridOf(project, workflow, deps, settings().zone)));
    return GridPanel.load();
  },
  component: lazyRouteComponent(() => import("./pages/WorkflowPage"), "WorkflowPage"),
});
// The grid is a tab of its workflow; this is the address that people write by hand.
const grid = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/w/$workflow/grid",
  validateSearch: workflowSearch,
  beforeLoad: ({ params, search }) => {
    throw redirect({ to: "/p/$project/w/$workflow", params, search: { ...search, tab: "grid" }, replace: true });
  },
});
const editor = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/w/$workflow/edit",
  validateSearch: editorSearch,
  component: lazyRouteComponent(() => import("./editor/EditorPage"), "EditorPage"),
});
const instance = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/r/$id",
  validateSearch: instanceSearch,
  // Asked for while the page's code and the session are still on their way; nobody waits for it here.
  loader: ({ context, params }) => void context.client.prefetchQuery(viewQuery(params.id)),
  component: lazyRouteComponent(() => import("./pages/InstancePage"), "InstancePage"),
});

const members = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/members",
  validateSearch: membersSearch,
  component: lazyRouteComponent(() => import("./pages/MembersPage"), "MembersPage"),
});
const profile = createRoute({
  getParentRoute: () => root,
  path: "/profile",
  validateSearch: profileSearch,
  component: lazyRouteComponent(() => import("./pages/ProfilePage"), "ProfilePage"),
});

const schedules = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/schedules",
  validateSearch: schedulesSearch,
  component: lazyRouteComponent(() => import("./pages/SchedulesPage"), "SchedulesPage"),
});
const schedule = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/w/$workflow/s/$schedule",
  validateSearch: scheduleSearch,
  loaderDeps: ({ search: { span, month } }) => ({ span, month }),
  loader: ({ context, params, deps: { span, month } }) => {
    void context.client.prefetchQuery(scheduleQuery(params));
    const shown = month ?? String(new Date().getFullYear());
    void context.client.prefetchQuery(spanQuery(params, span === "month" ? shown : shown.slice(0, 4)));
  },
  component: lazyRouteComponent(() => import("./pages/SchedulePage"), "SchedulePage"),
});
const backfills = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/backfills",
  component: lazyRouteComponent(() => import("./pages/BackfillsPage"), "BackfillsPage"),
});
const timers = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/timers",
  validateSearch: timersSearch,
  component: lazyRouteComponent(() => import("./pages/TimersPage"), "TimersPage"),
});
const resources = createRoute({
  getParentRoute: () => root,
  path: "/resources",
  validateSearch: resourcesSearch,
  component: lazyRouteComponent(() => import("./pages/ResourcesPage"), "ResourcesPage"),
});
const cluster = createRoute({
  getParentRoute: () => root,
  path: "/cluster",
  beforeLoad: () => {
    throw redirect({ to: "/cluster/$tab", params: { tab: "slots" }, replace: true });
  },
});
const clusterTab = createRoute({
  getParentRoute: () => root,
  path: "/cluster/$tab",
  validateSearch: clusterSearch,
  component: lazyRouteComponent(() => import("./pages/ClusterPage"), "ClusterPage"),
});

const approvals = createRoute({
  getParentRoute: () => root,
  path: "/approvals",
  validateSearch: approvalsSearch,
  component: lazyRouteComponent(() => import("./pages/ApprovalsPage"), "ApprovalsPage"),
});
const tasks = createRoute({
  getParentRoute: () => root,
  path: "/tasks",
  validateSearch: tasksSearch,
  component: lazyRouteComponent(() => import("./pages/TasksPage"), "TasksPage"),
});
const allSchedules = createRoute({
  getParentRoute: () => root,
  path: "/schedules",
  validateSearch: allSchedulesSearch,
  component: lazyRouteComponent(() => import("./pages/AllSchedulesPage"), "AllSchedulesPage"),
});
const lineage = createRoute({
  getParentRoute: () => root,
  path: "/lineage",
  validateSearch: lineageSearch,
  component: lazyRouteComponent(() => import("./pages/LineagePage"), "LineagePage"),
});
const alerts = createRoute({
  getParentRoute: () => root,
  path: "/alerts",
  component: lazyRouteComponent(() => import("./pages/AlertsPage"), "AlertsPage"),
});
const listeners = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/listeners",
  validateSearch: listenersSearch,
  component: lazyRouteComponent(() => import("./pages/ListenersPage"), "ListenersPage"),
});
const projectSettings = createRoute({
  getParentRoute: () => root,
  path: "/p/$project/settings",
  validateSearch: settingsSearch,
  component: lazyRouteComponent(() => import("./pages/ProjectSettingsPage"), "ProjectSettingsPage"),
});
const admin = createRoute({
  getParentRoute: () => root,
  path: "/admin",
  validateSearch: adminSearch,
  component: lazyRouteComponent(() => import("./pages/AdminPage"), "AdminPage"),
});

const tree = root.addChildren([
  today,
  instances,
  projects,
  members,
  profile,
  workflows,
  workflow,
  grid,
  editor,
  instance,
  schedules,
  schedule,
  backfills,
  timers,
  cluster,
  clusterTab,
  approvals,
  tasks,
  allSchedules,
  lineage,
  alerts,
  resources,
  listeners,
  projectSettings,
  admin,
]);

/** makeRouter makes the router; its routes ask for their data through the client. */
export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { client },
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
