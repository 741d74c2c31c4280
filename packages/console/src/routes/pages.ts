import { ROLE, type Status } from "@fairway/wire";
import type * as EndpointDrawers from "../features/events/endpoints/endpoints.drawer.tsx";
import type * as Endpoints from "../features/events/endpoints/endpoints.page.tsx";
import type * as TeamEndpoints from "../features/events/endpoints/team-endpoints.page.tsx";
import type { Access, PageEntry } from "./page-entry.ts";

/** The lowest role that may open a page. */
const LOWEST_ROLE: Readonly<Record<Access, number>> = {
  public: ROLE.guest,
  user: ROLE.guest,
  admin: ROLE.admin,
  root: ROLE.root,
};

function endpoints(name: keyof typeof Endpoints): PageEntry["load"] {
  return async () => ({ Component: (await import("../features/events/endpoints/endpoints.page.tsx"))[name] });
}

function endpointDrawer(name: keyof typeof EndpointDrawers): PageEntry["load"] {
  return async () => ({ Component: (await import("../features/events/endpoints/endpoints.drawer.tsx"))[name] });
}

function teamEndpoints(name: keyof typeof TeamEndpoints): PageEntry["load"] {
  return async () => ({ Component: (await import("../features/events/endpoints/team-endpoints.page.tsx"))[name] });
}

export const pages: readonly PageEntry[] = [
  {
    path: "/",
    label: "overview",
    icon: "home",
    access: "public",
    key: "h",
    load: async () => ({ Component: (await import("../features/home/home.page.tsx")).HomePage }),
  },
  {
    path: "/playground",
    label: "playground",
    icon: "chat",
    section: "use",
    access: "user",
    key: "p",
    load: async () => ({ Component: (await import("../features/playground/playground.page.tsx")).PlaygroundPage }),
  },
  {
    path: "/chat",
    label: "chat",
    icon: "external",
    section: "use",
    access: "public",
    isOn: (status) => status.chat_link !== "",
    key: "v",
    load: async () => ({ Component: (await import("../features/chat/chat.page.tsx")).ChatPage }),
  },
  {
    path: "/token",
    label: "token",
    icon: "key",
    section: "use",
    access: "user",
    key: "t",
    load: async () => ({ Component: (await import("../features/tokens/tokens.page.tsx")).TokensPage }),
    drawers: {
      add: async () => ({ Component: (await import("../features/tokens/token.drawer.tsx")).AddToken }),
      "edit/:id": async () => ({ Component: (await import("../features/tokens/token.drawer.tsx")).EditToken }),
    },
    details: {
      ":id": async () => ({ Component: (await import("../features/tokens/page/token.page.tsx")).TokenPage }),
    },
  },
  {
    path: "/topup",
    label: "wallet",
    icon: "wallet",
    section: "use",
    access: "user",
    key: "w",
    load: async () => ({ Component: (await import("../features/wallet/wallet.page.tsx")).WalletPage }),
  },
  {
    path: "/my-budget",
    label: "ownBudget",
    icon: "budget",
    isAside: true,
    access: "user",
    load: async () => ({ Component: (await import("../features/own-budgets/own-budgets.page.tsx")).OwnBudgetsPage }),
  },
  {
    path: "/team",
    label: "team",
    icon: "users",
    section: "use",
    access: "user",
    isOfTeams: true,
    key: "x",
    load: async () => ({ Component: (await import("../features/teams/teams.page.tsx")).TeamsPage }),
    drawers: {
      add: async () => ({ Component: (await import("../features/teams/team.drawer.tsx")).AddTeam }),
    },
    details: {
      ":id": async () => ({ Component: (await import("../features/teams/page/team.page.tsx")).TeamPage }),
      ":team/report": async () => ({
        Component: (await import("../features/reports/team-reports.page.tsx")).TeamReportsPage,
      }),
      ":team/webhook": teamEndpoints("TeamEndpoints"),
      ":team/webhook/add": teamEndpoints("AddTeamEndpoint"),
      ":team/webhook/edit/:id": teamEndpoints("EditTeamEndpoint"),
      ":team/webhook/:id": teamEndpoints("TeamEndpointPage"),
    },
  },
  {
    path: "/pricing",
    label: "pricing",
    icon: "price",
    section: "use",
    access: "public",
    key: "m",
    load: async () => ({ Component: (await import("../features/pricing/pricing.page.tsx")).PricingPage }),
  },
  {
    path: "/detail",
    label: "dashboard",
    icon: "chart",
    section: "watch",
    access: "user",
    isOn: (status) => status.enable_data_export,
    key: "d",
    load: async () => ({ Component: (await import("../features/dashboard/dashboard.page.tsx")).DashboardPage }),
  },
  {
    path: "/compare",
    label: "compare",
    icon: "rows",
    section: "watch",
    access: "admin",
    key: "e",
    load: async () => ({ Component: (await import("../features/compare/compare.page.tsx")).ComparePage }),
  },
  {
    path: "/report",
    label: "report",
    icon: "sum",
    section: "watch",
    access: "user",
    key: "k",
    load: async () => ({ Component: (await import("../features/reports/reports.page.tsx")).ReportsPage }),
  },
  {
    path: "/log",
    label: "log",
    icon: "log",
    section: "watch",
    access: "user",
    key: "l",
    load: async () => ({ Component: (await import("../features/logs/logs.page.tsx")).LogsPage }),
  },
  {
    path: "/midjourney",
    label: "drawing",
    icon: "image",
    section: "watch",
    access: "user",
    isOn: (status) => status.enable_drawing,
    key: "i",
    load: async () => ({ Component: (await import("../features/drawing/drawing.page.tsx")).DrawingPage }),
  },
  {
    path: "/task",
    label: "task",
    icon: "clock",
    section: "watch",
    access: "user",
    isOn: (status) => status.enable_task,
    key: "a",
    load: async () => ({ Component: (await import("../features/tasks/tasks.page.tsx")).TasksPage }),
  },
  {
    path: "/event",
    label: "event",
    icon: "bell",
    section: "watch",
    access: "user",
    key: "y",
    load: async () => ({ Component: (await import("../features/events/events.page.tsx")).EventsPage }),
  },
  {
    path: "/webhook",
    label: "webhook",
    icon: "send",
    isAside: true,
    access: "user",
    load: endpoints("OwnEndpoints"),
    drawers: {
      add: endpointDrawer("AddOwnEndpoint"),
      "edit/:id": endpointDrawer("EditOwnEndpoint"),
      "edit/mail": endpointDrawer("MailDrawer"),
    },
    details: { ":id": endpoints("OwnEndpointPage") },
  },
  {
    path: "/operator-webhook",
    label: "operatorWebhook",
    icon: "send",
    isAside: true,
    access: "root",
    load: endpoints("OperatorEndpoints"),
    drawers: { add: endpointDrawer("AddOperatorEndpoint"), "edit/:id": endpointDrawer("EditOperatorEndpoint") },
    details: { ":id": endpoints("OperatorEndpointPage") },
  },
  {
    path: "/identity-provider",
    label: "identityProvider",
    icon: "users",
    isAside: true,
    access: "root",
    load: async () => ({ Component: (await import("../features/identity/providers.page.tsx")).ProvidersPage }),
    drawers: {
      add: async () => ({ Component: (await import("../features/identity/provider.drawer.tsx")).AddProvider }),
      "edit/:id": async () => ({ Component: (await import("../features/identity/provider.drawer.tsx")).EditProvider }),
    },
    details: {
      ":id": async () => ({ Component: (await import("../features/identity/page/provider.page.tsx")).ProviderPage }),
    },
  },
  {
    path: "/service-account",
    label: "serviceAccount",
    icon: "key",
    isAside: true,
    access: "root",
    load: async () => ({ Component: (await import("../features/teams/operators.page.tsx")).OperatorsPage }),
  },
  {
    path: "/batch",
    label: "batches",
    icon: "layers",
    section: "watch",
    access: "user",
    key: "q",
    load: async () => ({ Component: (await import("../features/batches/batches.page.tsx")).BatchesPage }),
  },
  {
    path: "/file",
    label: "files",
    icon: "paper",
    section: "watch",
    access: "user",
    key: "z",
    load: async () => ({ Component: (await import("../features/files/files.page.tsx")).FilesPage }),
  },
  {
    path: "/cache",
    label: "caches",
    icon: "clock",
    section: "watch",
    access: "user",
    load: async () => ({ Component: (await import("../features/caches/caches.page.tsx")).CachesPage }),
  },
  {
    path: "/channel",
    label: "channel",
    icon: "channel",
    section: "operate",
    access: "admin",
    key: "c",
    load: async () => ({ Component: (await import("../features/channels/list/channels.page.tsx")).ChannelsPage }),
    drawers: {
      add: async () => ({ Component: (await import("../features/channels/form/channel.drawer.tsx")).AddChannel }),
      "edit/:id": async () => ({
        Component: (await import("../features/channels/form/channel.drawer.tsx")).EditChannel,
      }),
      import: async () => ({ Component: (await import("../features/channels/import/import-dialog.tsx")).ImportDialog }),
    },
    details: {
      ":id": async () => ({ Component: (await import("../features/channels/page/channel.page.tsx")).ChannelPage }),
    },
  },
  {
    path: "/redemption",
    label: "redemption",
    icon: "ticket",
    section: "operate",
    access: "admin",
    key: "r",
    load: async () => ({ Component: (await import("../features/redemptions/redemptions.page.tsx")).RedemptionsPage }),
    drawers: {
      add: async () => ({ Component: (await import("../features/redemptions/redemption.drawer.tsx")).AddCodes }),
      "edit/:id": async () => ({ Component: (await import("../features/redemptions/redemption.drawer.tsx")).EditCode }),
    },
  },
  {
    path: "/user",
    label: "users",
    icon: "users",
    section: "operate",
    access: "admin",
    key: "u",
    load: async () => ({ Component: (await import("../features/users/users.page.tsx")).UsersPage }),
    drawers: {
      add: async () => ({ Component: (await import("../features/users/user.drawer.tsx")).AddUser }),
      "edit/:id": async () => ({ Component: (await import("../features/users/user.drawer.tsx")).EditUser }),
    },
    details: {
      ":id": async () => ({ Component: (await import("../features/users/page/user.page.tsx")).UserPage }),
    },
  },
  {
    path: "/budget",
    label: "budget",
    icon: "budget",
    section: "operate",
    access: "admin",
    key: "b",
    load: async () => ({ Component: (await import("../features/budgets/budgets.page.tsx")).BudgetsPage }),
    drawers: {
      add: async () => ({ Component: (await import("../features/budgets/budget.drawer.tsx")).AddBudget }),
      "edit/:id": async () => ({ Component: (await import("../features/budgets/budget.drawer.tsx")).EditBudget }),
    },
    details: {
      ":id": async () => ({ Component: (await import("../features/budgets/page/budget.page.tsx")).BudgetPage }),
    },
  },
  {
    path: "/audit",
    label: "audit",
    icon: "audit",
    section: "operate",
    access: "root",
    key: "j",
    load: async () => ({ Component: (await import("../features/audit/audit.page.tsx")).AuditPage }),
  },
  {
    path: "/document",
    label: "documents",
    icon: "file",
    section: "operate",
    access: "root",
    key: "f",
    load: async () => ({ Component: (await import("../features/documents/documents.page.tsx")).DocumentsPage }),
  },
  {
    path: "/setup",
    label: "start",
    icon: "bolt",
    isAside: true,
    access: "user",
    key: "n",
    load: async () => ({ Component: (await import("../features/setup/setup.page.tsx")).SetupPage }),
  },
  {
    path: "/about",
    label: "about",
    icon: "info",
    isAside: true,
    access: "public",
    key: "o",
    load: async () => ({ Component: (await import("../features/about/about.page.tsx")).AboutPage }),
  },
  {
    path: "/setting",
    label: "settings",
    icon: "settings",
    section: "use",
    access: "user",
    key: "s",
    load: async () => ({ Component: (await import("../features/settings/settings.page.tsx")).SettingsPage }),
  },
];

/** Returns whether the role suffices; the route makes visitors sign in first. */
export function mayOpen(access: Access, role: number): boolean {
  return role >= LOWEST_ROLE[access];
}

/** Returns the pages for a user of this role, in sidebar order. */
export function pagesFor(role: number, status: Status): readonly PageEntry[] {
  return pages.filter((page) => mayOpen(page.access, role) && (page.isOn?.(status) ?? true));
}
