import "./styles/mantine.css";
import "@mantine/spotlight/styles.css";
import "@mantine/notifications/styles.css";
import "./styles/tokens.css";
import "./styles/app.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/count.css";
import "./styles/pages.css";
import "./styles/instance.css";
import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError, signedOut } from "./api/client";
import { sessionQuery } from "./api/queries";
import { speak } from "./i18n";
import { beginLive, pollWhenStale } from "./live/live";
import { makeRouter } from "./router";
import { settings } from "./settings";
import { theme } from "./theme";

const client: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchInterval: pollWhenStale,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});

// Whoever is no longer known is asked to sign in, where he is.
window.addEventListener(signedOut, () => client.setQueryData(sessionQuery.queryKey, null));

const root = document.getElementById("root");
if (!root) throw new Error("the page has no root");
const router = makeRouter(client);
void begun(root);

/**
 * begun draws what the address shows at once, with who looks at it: a frame without a page, and a page behind a fallback, are a
 * drawing each, and index.html has the frame. It is awaited by nobody: the pages' code imports this module's and waits for its end.
 */
async function begun(to: HTMLElement): Promise<void> {
  await Promise.all([speak(settings().language), client.prefetchQuery(sessionQuery), router.load()]);
  document.documentElement.dataset.density = settings().density;
  beginLive();
  createRoot(to).render(
    <StrictMode>
      {/* The page's policy allows no inline style sheet: tokens.css holds what would be injected. */}
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        colorSchemeManager={localStorageColorSchemeManager({ key: "porpoise.theme" })}
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <QueryClientProvider client={client}>
          <Notifications position="bottom-right" limit={3} />
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
