export const en = {
  enabled: "Enabled",
  disabled: "Disabled",
  disabledByAdmin: "Disabled by an administrator",
  expired: "Expired",
  exhausted: "Depleted",
} as const;
