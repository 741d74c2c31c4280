import * as z from "zod/mini";
import { SignInOffer } from "../accounts/sign-in-offer.ts";
import { endpoint } from "../core/endpoint.ts";

/** Facts about this installation that everyone may know. */
export const Status = z.object({
  version: z.string(),
  /** Epoch seconds. */
  start_time: z.int(),
  email_verification: z.boolean(),
  github_oauth: z.boolean(),
  github_client_id: z.string(),
  linuxdo_oauth: z.boolean(),
  linuxdo_client_id: z.string(),
  telegram_oauth: z.boolean(),
  telegram_bot_name: z.string(),
  system_name: z.string(),
  logo: z.string(),
  footer_html: z.string(),
  wechat_qrcode: z.string(),
  wechat_login: z.boolean(),
  server_address: z.string(),
  price: z.number(),
  min_topup: z.int(),
  turnstile_check: z.boolean(),
  turnstile_site_key: z.string(),
  top_up_link: z.string(),
  chat_link: z.string(),
  chat_link2: z.string(),
  quota_per_unit: z.number(),
  display_in_currency: z.boolean(),
  enable_batch_update: z.boolean(),
  enable_drawing: z.boolean(),
  enable_task: z.boolean(),
  enable_data_export: z.boolean(),
  data_export_default_time: z.enum(["hour", "day", "week"]),
  default_collapse_sidebar: z.boolean(),
  enable_online_topup: z.boolean(),
  mj_notify_enabled: z.boolean(),
  chats: z.array(z.record(z.string(), z.string())),
  password_login_enabled: z.boolean(),
  password_register_enabled: z.boolean(),
  register_enabled: z.boolean(),
  demo_site_enabled: z.boolean(),
  self_use_mode_enabled: z.boolean(),
  oidc_enabled: z.boolean(),
  oidc_client_id: z.string(),
  oidc_authorization_endpoint: z.string(),
  docs_link: z.string(),
  setup: z.boolean(),
  /** The ways to sign in with OpenID Connect, for `GET /api/oauth/start`. */
  sign_in: z.array(SignInOffer),
  teams_enabled: z.boolean(),
  /** Who creates teams. */
  team_creation: z.enum(["admin", "user"]),
});
export type Status = z.output<typeof Status>;

export const status = endpoint({
  name: "status",
  method: "GET",
  path: "/api/status",
  access: "none",
  summary: "What this installation offers; answers as long as the process lives.",
  data: Status,
});

export const statusTest = endpoint({
  name: "statusTest",
  method: "GET",
  path: "/api/status/test",
  access: "admin",
  summary: "Asks the database.",
  fails: ["database_unavailable"],
});

export const notice = endpoint({
  name: "notice",
  method: "GET",
  path: "/api/notice",
  access: "none",
  summary: "The announcement.",
  data: z.string(),
});

export const about = endpoint({
  name: "about",
  method: "GET",
  path: "/api/about",
  access: "none",
  summary: "The about page: HTML, Markdown or an address to frame.",
  data: z.string(),
});

export const homePage = endpoint({
  name: "homePage",
  method: "GET",
  path: "/api/home_page_content",
  access: "none",
  summary: "The home page: HTML, Markdown or an address to frame.",
  data: z.string(),
});
