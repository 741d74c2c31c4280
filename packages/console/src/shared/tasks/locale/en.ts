export const en = {
  searchId: "Task ID",
  searchChannel: "Channel ID",
  refresh: "Refresh",
} as const;
