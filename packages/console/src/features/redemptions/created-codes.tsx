import { Button, Flex, Text } from "@chakra-ui/react";
import { useStore } from "../../lib/store.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { createdCodes } from "./created.ts";
import { useTexts } from "./texts.ts";
import { Modal } from "../../ui/feedback/modal.tsx";

/** Shows all codes of a new batch, to copy or to save as a file named after the batch. */
export function CreatedCodes() {
  const t = useTexts();
  const batch = useStore(createdCodes);
  if (!batch) return null;
  const close = () => createdCodes.write(undefined);
  const text = batch.codes.join("\n");
  return (
    <Modal
      title={t("createdTitle", { count: batch.codes.length })}
      lead={t("createdBody")}
      size="lg"
      closeOnInteractOutside={false}
      onClose={close}
      footer={
        <>
          <Button asChild variant="outline">
            <a href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`} download={`${batch.name}.txt`}>
              {t("download")}
            </a>
          </Button>
          <CopyButton text={text} label={t("copyAll")}>
            {t("copyAll")}
          </CopyButton>
          <Button onClick={close}>{t("done")}</Button>
        </>
      }
    >
      <Flex as="ul" direction="column" gap="1.5" maxH="60" overflowY="auto" listStyleType="none" tabIndex={0}>
        {batch.codes.map((code) => (
          <Text as="li" key={code} fontFamily="mono" textStyle="sm" data-testid="new-code">
            {code}
          </Text>
        ))}
      </Flex>
    </Modal>
  );
}
