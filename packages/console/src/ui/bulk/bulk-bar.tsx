import { Box, Button, Flex, Portal, Spinner, Text } from "@chakra-ui/react";
import { Suspense, type ReactNode } from "react";
import type { Bulk, BulkProgress } from "./bulk.ts";
import { Icon } from "../display/icon.tsx";
import { IconButton } from "../display/icon-button.tsx";
import { useTexts } from "../texts.ts";
import { lateNeeded } from "../late/late.tsx";

const BulkReportDialog = lateNeeded(async () => (await import("./bulk-report.tsx")).BulkReportDialog);

interface BulkBarProps {
  readonly count: number;
  onClear(): void;
  /** The running bulk action of the page, if some of its actions take time or may fail. */
  readonly bulk?: Bulk;
  readonly children: ReactNode;
}

/** Actions for the selected rows; floats at the bottom while something is selected. */
export function BulkBar(props: BulkBarProps) {
  const t = useTexts();
  const { bulk } = props;
  const isOpen = props.count > 0 || bulk?.progress !== undefined;
  return (
    <>
      {/* The last rows can be scrolled out from under the bar. */}
      {isOpen && <Box height={{ base: "28", sm: "16" }} aria-hidden="true" />}
      {isOpen && (
        <Portal>
          <Flex
            role="region"
            aria-label={t("selected", { count: props.count })}
            position="fixed"
            bottom="5"
            insetStart="50%"
            transform="translateX(-50%)"
            zIndex="sticky"
            align="center"
            gap="2"
            bg="bg.panel"
            borderWidth="1px"
            borderColor="border.emphasized"
            borderRadius="l3"
            boxShadow="lg"
            ps="4"
            pe="2"
            py="2"
            width="max-content"
            maxW="calc(100vw - 32px)"
            wrap="wrap"
          >
            {bulk?.progress ? (
              <Running progress={bulk.progress} onStop={bulk.stop} />
            ) : (
              <>
                <Text fontWeight="medium" whiteSpace="nowrap">
                  {t("selected", { count: props.count })}
                </Text>
                {props.children}
                <IconButton label={t("clearSelection")} onClick={props.onClear}>
                  <Icon name="close" />
                </IconButton>
              </>
            )}
          </Flex>
        </Portal>
      )}
      <Suspense>{bulk?.report && <BulkReportDialog report={bulk.report} bulk={bulk} />}</Suspense>
    </>
  );
}

function Running({ progress, onStop }: { readonly progress: BulkProgress; onStop(): void }) {
  const t = useTexts();
  const { label, done, total } = progress;
  return (
    <>
      <Spinner size="sm" />
      <Text role="status" fontWeight="medium">
        {total === undefined ? t("bulkRunning", { label }) : t("bulkProgress", { label, done, total })}
      </Text>
      {total !== undefined && (
        <Button variant="outline" onClick={onStop}>
          {t("bulkStop")}
        </Button>
      )}
    </>
  );
}

export function BulkButton(props: { readonly label: string; readonly isDangerous?: boolean; run(): void }) {
  return (
    <Button variant="outline" color={props.isDangerous ? "fg.error" : "fg"} onClick={() => props.run()}>
      {props.label}
    </Button>
  );
}
