import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useRef } from "react";
import type { Bulk, BulkReport } from "./bulk.ts";
import { useTexts } from "../texts.ts";
import { Modal } from "../feedback/modal.tsx";

/** Shows which rows of a bulk action failed and why; they stay selected. */
export function BulkReportDialog({ report, bulk }: { readonly report: BulkReport; readonly bulk: Bulk }) {
  const t = useTexts();
  const again = useRef<HTMLButtonElement>(null);
  const failed = report.failed.length;
  return (
    <Modal
      title={t("bulkFailed", { label: report.action.label, failed, count: report.count })}
      role="alertdialog"
      size="md"
      initialFocusEl={() => again.current}
      onClose={bulk.closeReport}
      footer={
        <>
          <Button variant="outline" onClick={bulk.closeReport}>
            {t("close")}
          </Button>
          <Button ref={again} onClick={bulk.retry}>
            {t("bulkRetry", { count: failed })}
          </Button>
        </>
      }
    >
      <Box as="ul" listStyleType="none" maxH="50dvh" overflowY="auto" tabIndex={0} aria-label={t("bulkReasons")}>
        {report.failed.map(({ id, name, reason }) => (
          <Flex as="li" key={id} direction="column" py="2" borderTopWidth="1px" _first={{ borderTopWidth: "0" }}>
            <Text fontWeight="medium" overflowWrap="anywhere">
              <bdi>{name}</bdi>
            </Text>
            <Text textStyle="sm" color="fg.muted" overflowWrap="anywhere">
              {reason}
            </Text>
          </Flex>
        ))}
      </Box>
      <Text textStyle="sm" color="fg.muted" mt="3">
        {t("bulkSelected")}
      </Text>
    </Modal>
  );
}
