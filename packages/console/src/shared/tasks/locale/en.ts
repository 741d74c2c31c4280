export const en = {
  searchId: "Task ID",
  searchChannel: "Channel",
  refresh: "Refresh",
} as const;
