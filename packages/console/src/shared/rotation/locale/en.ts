export const en = {
  rotate: "Replace",
  rotateTitle: "Replace the key of “{name}”",
  grace: "The old key works for",
  graceHelp: "Move your programs to the new key in this time. The token and its limits stay.",
  graceNone: "No longer: it ends at once",
  hour: "1 hour",
  day: "1 day",
  week: "7 days",
  thirtyDays: "30 days",
} as const;
