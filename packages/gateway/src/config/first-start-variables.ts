import * as parse from "./parsers.ts";
import { define } from "./variable.ts";

/** Variables that are read while the database has no account yet. */
export const FIRST_START_VARIABLES = {
  setupWizard: define({
    name: "FAIRWAY_SETUP_WIZARD",
    about: "Creates no first account; the console shows the setup screen.",
    fallback: "false",
    example: "true",
    parse: parse.boolean,
  }),
  setupToken: define({
    name: "FAIRWAY_SETUP_TOKEN",
    about:
      "Required by the setup screen. Without it, setup works on this machine only, and FAIRWAY_SETUP_WIZARD requires a FAIRWAY_HOST on loopback.",
    fallback: "",
    example: "a-long-random-text",
    parse: parse.optional(parse.secret()),
    isSecret: true,
  }),
  firstRetries: define({
    name: "FAIRWAY_FIRST_RETRIES",
    about:
      "Value of the option RetryTimes that a new database gets with its first account. Later changes of this variable do nothing.",
    fallback: "2",
    example: "0",
    parse: parse.integer(0, 100),
  }),
} as const;
