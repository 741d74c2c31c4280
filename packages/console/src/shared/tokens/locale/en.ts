export const en = {
  enabled: "Enabled",
  disabled: "Disabled",
  expired: "Expired",
  exhausted: "Depleted",
} as const;
