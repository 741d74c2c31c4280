import { useSuspenseQuery } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { createBrowserRouter, Outlet, redirect, type LoaderFunctionArgs, type RouteObject } from "react-router";
import { Crash, NoAccess, NotFound, PageFailed, StartFailed } from "./errors/crash.tsx";
import type { Access, PageEntry } from "./page-entry.ts";
import { mayOpen, pages } from "./pages.ts";
import { confirmCaller } from "../shared/credentials/confirm.ts";
import { ConfirmHost } from "../shared/credentials/confirm-host.tsx";
import {
  currentUser,
  endSession,
  followOtherTab,
  forgetUser,
  isSessionOver,
  recoverUser,
  getRole,
  useUser,
} from "../session/session.ts";
import { StatusContext, statusQuery } from "../session/status.ts";
import { whenProofNeeded, whenSignedOut } from "../lib/http.ts";
import { inTime, isChunkProblem } from "../lib/server/chunks.ts";
import { textsReady } from "../lib/i18n.ts";
import { queryClient } from "../lib/query.ts";
import { Hosts } from "../ui/hosts.tsx";
import { late } from "../ui/late/late.tsx";
import { whenPageMissing } from "../ui/late/release.ts";
import { UnsavedGuard } from "../ui/feedback/unsaved-guard.ts";

function loginPath(path: string, isExpired: boolean): string {
  const query = new URLSearchParams(isExpired ? { expired: "true" } : {});
  if (path !== "/") query.set("next", path);
  return `/login?${query}`;
}

/** The page where an installation without an account gets its first one. */
const SETUP = "/setup";

/** Saves signed-out visitors a useless call; the server makes the final decision. */
async function requireUser({ request }: LoaderFunctionArgs): Promise<Response | null> {
  await recoverUser();
  if (currentUser()) return null;
  const url = new URL(request.url);
  const { setup: isSetUp } = await queryClient.ensureQueryData(statusQuery);
  if (!isSetUp) return url.pathname === SETUP ? null : redirect(SETUP);
  return redirect(loginPath(url.pathname + url.search, false));
}

function Root() {
  const { data } = useSuspenseQuery(statusQuery);
  return (
    <StatusContext value={data}>
      <Outlet />
      <Hosts />
      <ConfirmHost />
      <UnsavedGuard />
    </StatusContext>
  );
}

/** Checked for the user who is currently signed in: a route is loaded once, but users change. */
function gate(Page: ComponentType, access: Access): ComponentType {
  if (access !== "admin" && access !== "root") return Page;
  return function Gated() {
    const user = useUser();
    // A session that ended leads to the sign-in page; until then, a form keeps its input.
    const mayStay = (user === undefined && isSessionOver()) || mayOpen(access, getRole(user));
    return mayStay ? <Page /> : <NoAccess to={access} />;
  };
}

/**
 * Loads the page's code, then its texts, so that it appears in one language at once. Code that cannot be loaded fails
 * when it is rendered: for a route whose `lazy` rejects, the router would show its empty fallback.
 */
function lazily(load: PageEntry["load"], access: Access) {
  const loadPage = async () => {
    const { Component } = await load();
    await textsReady();
    return Component;
  };
  return async () => {
    try {
      return { Component: gate(await inTime(loadPage), access) };
    } catch (problem) {
      const Component = isChunkProblem(problem) ? late(loadPage, PageFailed, whenPageMissing) : failing(problem);
      return { Component: gate(Component, access) };
    }
  };
}

function failing(problem: unknown): ComponentType {
  return function Failing() {
    throw problem;
  };
}

function buildRoute(page: PageEntry): RouteObject {
  const drawers = Object.entries(page.drawers ?? {});
  return {
    path: page.path,
    ...(page.access !== "public" && { loader: requireUser }),
    lazy: lazily(page.load, page.access),
    ErrorBoundary: Crash,
    children: drawers.map(([path, load]) => ({ path, lazy: lazily(load, page.access) })),
  };
}

/** Detail pages share the gate of their list, and replace it. */
function buildDetailRoutes(page: PageEntry): RouteObject[] {
  return Object.entries(page.details ?? {}).map(([path, load]) => ({
    path: `${page.path}/${path}`,
    ...(page.access !== "public" && { loader: requireUser }),
    lazy: lazily(load, page.access),
    ErrorBoundary: Crash,
  }));
}

const loadFrame = async () => ({ Component: (await import("./frame/frame.tsx")).Frame });

/** Pages of visitors, outside the frame. */
const visitorRoutes: readonly RouteObject[] = Object.entries<PageEntry["load"]>({
  "/login": async () => ({ Component: (await import("../features/account/login.page.tsx")).LoginPage }),
  "/register": async () => ({ Component: (await import("../features/account/register.page.tsx")).RegisterPage }),
  "/reset": async () => ({ Component: (await import("../features/account/reset.page.tsx")).ResetPage }),
  "/user/reset": async () => ({ Component: (await import("../features/account/reset.page.tsx")).NewPasswordPage }),
  "/oauth/:service": async () => ({ Component: (await import("../features/account/oauth.page.tsx")).OauthPage }),
}).map(([path, load]) => ({ path, lazy: lazily(load, "public"), ErrorBoundary: Crash }));

/** Redirects to another site; it is in the frame so that it can explain a failure. */
const chatLink: PageEntry["load"] = async () => ({
  Component: (await import("../features/chat/chat-link.page.tsx")).ChatLinkPage,
});

/** The page of the link of an invitation. */
const joinTeam: PageEntry["load"] = async () => ({
  Component: (await import("../features/teams/join.page.tsx")).JoinPage,
});

export const router = createBrowserRouter([
  {
    Component: Root,
    ErrorBoundary: StartFailed,
    HydrateFallback: () => null,
    loader: async () => {
      await Promise.all([queryClient.ensureQueryData(statusQuery), textsReady(), recoverUser()]);
      return null;
    },
    shouldRevalidate: () => false,
    children: [
      ...visitorRoutes,
      {
        lazy: lazily(loadFrame, "public"),
        ErrorBoundary: Crash,
        children: [
          ...pages.map(buildRoute),
          ...pages.flatMap(buildDetailRoutes),
          { path: "/chat2link", loader: requireUser, lazy: lazily(chatLink, "user"), ErrorBoundary: Crash },
          { path: "/team/join", loader: requireUser, lazy: lazily(joinTeam, "user"), ErrorBoundary: Crash },
          { path: "/user/edit", loader: () => redirect("/setting") },
          { path: "*", Component: NotFound },
        ],
      },
    ],
  },
]);

async function leaveSession(): Promise<void> {
  endSession();
  // A page that is still loading is the one that the user wants after signing in again.
  const { pathname, search } = router.state.navigation.location ?? router.state.location;
  if (pathname !== "/login") await router.navigate(loginPath(pathname + search, true), { replace: true });
  // A form with unsaved input may have delayed the navigation.
  if (router.state.location.pathname === "/login") forgetUser();
}

whenProofNeeded(confirmCaller);

whenSignedOut(() => {
  if (currentUser() || isSessionOver()) void leaveSession();
});

// Another tab signed in or out.
addEventListener("storage", ({ key }) => {
  if ((key !== "user" && key !== null) || followOtherTab() || !currentUser()) return;
  if (router.state.matches.some(({ route }) => route.loader === requireUser)) void leaveSession();
  else forgetUser();
});
