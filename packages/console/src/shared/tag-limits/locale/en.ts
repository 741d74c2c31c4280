export const en = {
  section: "Limits by tag or end user",
  help: "Each row limits the calls with one value of a tag, or of one end user (key end_user). The value * stands for each value without a row; every one of them is counted by itself. A blocked value is refused.",
  fault: "Each row needs the key of a tag or end_user, a value or *, and whole numbers above 0.",
  key: "Key",
  value: "Value",
  rpm: "Requests per minute",
  tpm: "Tokens per minute",
  concurrency: "At once",
  blocked: "Blocked",
  add: "Add a limit",
} as const;
