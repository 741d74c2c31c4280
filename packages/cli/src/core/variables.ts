/** Variables that every command reads. */
export const VARIABLES: Readonly<Record<string, string>> = {
  "FAIRWAY_SERVER, FAIRWAY_TOKEN": "instead of a sign-in; FAIRWAY_USER_ID is checked against the token",
  FAIRWAY_INSECURE_HTTP: "1 lets FAIRWAY_TOKEN travel over plain http to another machine",
  FAIRWAY_SOURCE_TOKEN: "access token of the gateway that `fairway import` reads",
  FAIRWAY_CONTEXT: "as --context",
  FAIRWAY_OUTPUT: "as --output",
  FAIRWAY_CA_FILE: "as --ca-file",
  FAIRWAY_CONFIG: "file of the sign-in, ~/.config/fairway/credentials.json",
  NO_COLOR: "no colours, as --no-color",
};
