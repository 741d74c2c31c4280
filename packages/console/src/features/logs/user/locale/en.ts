export const en = {
  status: "Status",
  enabled: "Enabled",
  disabled: "Disabled",
  deleted: "Deleted",
  balance: "Balance",
  used: "Used",
  requests: "Charged requests",
  group: "Group",
  calls: "Show the calls",
  open: "Open user",
  close: "Close",
} as const;
