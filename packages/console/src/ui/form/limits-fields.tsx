import { SimpleGrid } from "@chakra-ui/react";
import { LIMIT_NAMES, type LimitsDraft } from "../../lib/limits.ts";
import { TextField } from "./field.tsx";
import { useTexts } from "../texts.ts";

const LABELS = { rpm: "limitRpm", tpm: "limitTpm", concurrency: "limitConcurrency" } as const;

interface LimitsFieldsProps {
  readonly values: LimitsDraft;
  readonly errors: { readonly [K in keyof LimitsDraft]?: string | undefined };
  /** The value that applies if the member is blank. */
  readonly placeholder: string;
  onChange(name: keyof LimitsDraft, value: string): void;
  onBlur(name: keyof LimitsDraft): void;
}

/** Requests and tokens per minute, and parallel requests; calls beyond a limit are refused with status 429. */
export function LimitsFields(props: LimitsFieldsProps) {
  const t = useTexts();
  return (
    <SimpleGrid columns={{ base: 1, sm: 3 }} gap="4">
      {LIMIT_NAMES.map((name) => (
        <TextField
          key={name}
          label={t(LABELS[name])}
          inputMode="numeric"
          value={props.values[name]}
          error={props.errors[name]}
          placeholder={props.placeholder}
          onChange={(value) => props.onChange(name, value)}
          onBlur={() => props.onBlur(name)}
        />
      ))}
    </SimpleGrid>
  );
}
