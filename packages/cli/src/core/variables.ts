/** Variables that every command reads. */
export const VARIABLES: Readonly<Record<string, string>> = {
  "FAIRWAY_SERVER, FAIRWAY_TOKEN": "instead of a sign-in; checks FAIRWAY_USER_ID",
  FAIRWAY_INSECURE_HTTP: "1 lets FAIRWAY_TOKEN go over plain http",
  FAIRWAY_SOURCE_TOKEN: "access token of the gateway to import from",
  FAIRWAY_CONTEXT: "as --context",
  FAIRWAY_OUTPUT: "as --output",
  FAIRWAY_CA_FILE: "as --ca-file",
  FAIRWAY_CONFIG: "file of one sign-in, instead of contexts",
  NO_COLOR: "no colours, as --no-color",
};
