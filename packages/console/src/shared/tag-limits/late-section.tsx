import { Suspense } from "react";
import { late } from "../../ui/late/late.tsx";
import type { TagLimitsSectionProps } from "./section.tsx";

const Section = late(async () => (await import("./section.tsx")).TagLimitsSection);

/** Its rows load when a form is opened, and the rest of the form does not wait for them. */
export function TagLimitsSection(props: TagLimitsSectionProps) {
  return (
    <Suspense fallback={null}>
      <Section {...props} />
    </Suspense>
  );
}
