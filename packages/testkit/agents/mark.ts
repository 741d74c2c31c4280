/** What agents call the MCP server, its tool, and what the tool answers. */
export const SERVER = "harbour";
export const MARK_TOOL = "tell_mark";
export const MARK = "beacon-4711";
