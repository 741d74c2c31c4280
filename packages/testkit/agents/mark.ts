/** Names of the MCP server and its tool, and the tool's answer. */
export const SERVER = "harbour";
export const MARK_TOOL = "tell_mark";
export const MARK = "beacon-4711";
