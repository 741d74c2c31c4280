import { SelectField } from "../../ui/form/field.tsx";
import { useTexts } from "./texts.ts";
import { CACHE_MODES, type CacheMode } from "./token-form.ts";

interface PromptCacheFieldProps {
  readonly value: CacheMode;
  onChange(value: CacheMode): void;
}

/** Chooses when prompts get marks for the cache of a provider. */
export function PromptCacheField({ value, onChange }: PromptCacheFieldProps) {
  const t = useTexts();
  const labels = {
    inherit: t("promptCacheInherit"),
    off: t("promptCacheOff"),
    auto: t("promptCacheAuto"),
    always: t("promptCacheAlways"),
  };
  return (
    <SelectField
      label={t("promptCache")}
      value={value}
      choices={CACHE_MODES.map((mode) => ({ value: mode, label: labels[mode] }))}
      help={t("promptCacheHelp")}
      onChange={(mode) => onChange(mode as CacheMode)}
    />
  );
}
