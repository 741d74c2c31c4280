import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

/** Whether this installation has its first account. */
export const SetupState = z.object({
  status: z.boolean(),
  root_init: z.boolean(),
  /** `sqlite`, `mysql` or `postgres`; "" once set up. */
  database_type: z.string(),
});
export type SetupState = z.output<typeof SetupState>;

export const setupState = endpoint({
  name: "setupState",
  method: "GET",
  path: "/api/setup",
  access: "none",
  summary: "Whether the installation is set up.",
  data: SetupState,
});

const text = z.optional(z.string());

export const setup = endpoint({
  name: "setup",
  method: "POST",
  path: "/api/setup",
  access: "none",
  rate: "critical",
  summary: "Creates the super administrator of a fresh installation.",
  body: z.strictObject({
    username: text,
    password: text,
    confirmPassword: text,
    SelfUseModeEnabled: z.optional(z.boolean()),
    DemoSiteEnabled: z.optional(z.boolean()),
    setup_token: text,
  }),
  fails: ["setup_already_done", "setup_token_required", "username_invalid", "password_too_short", "passwords_differ"],
});
