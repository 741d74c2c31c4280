import { Box, Flex, NativeSelect } from "@chakra-ui/react";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { PAGE_SIZES } from "../../lib/storage.ts";
import { Icon } from "../display/icon.tsx";
import { IconButton } from "../display/icon-button.tsx";
import { useTexts } from "../texts.ts";

export interface PagerProps {
  /** Counted from 1. */
  readonly page: number;
  readonly size: number;
  /** Undefined while the server has not counted. */
  readonly total: number | undefined;
  onPage(page: number): void;
  onSize(size: number): void;
}

export function Pager(props: PagerProps & { readonly shown: number | undefined }) {
  const t = useTexts();
  const language = useLanguage();
  const from = (props.page - 1) * props.size + 1;
  const to = from + (props.shown ?? 0) - 1;
  const isLast = props.total === undefined ? (props.shown ?? 0) < props.size : to >= props.total;
  const numbers = { from: formatCount(from, language), to: formatCount(to, language) };
  const range =
    props.total === undefined
      ? t("rangeOpen", numbers)
      : t("range", { ...numbers, total: formatCount(props.total, language) });
  return (
    <Flex
      align="center"
      gap="3"
      px={{ base: "0", sm: "3.5" }}
      py="2"
      borderTopWidth={{ base: "0", sm: "1px" }}
      textStyle="sm"
      color="fg.muted"
    >
      <Box aria-live="polite" flex="1">
        {props.shown === undefined ? "" : range}
      </Box>
      <NativeSelect.Root size="xs" width="auto">
        <NativeSelect.Field
          aria-label={t("pageSize")}
          value={String(props.size)}
          onChange={(event) => props.onSize(Number(event.target.value))}
        >
          {PAGE_SIZES.map((size) => (
            <option key={size} value={String(size)}>
              {t("perPage", { size })}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
      <Flex gap="1">
        <IconButton
          size="xs"
          variant="outline"
          label={t("pagePrevious")}
          hasTip={false}
          disabled={props.page <= 1}
          onClick={() => props.onPage(props.page - 1)}
        >
          <Icon name="left" size={14} />
        </IconButton>
        <IconButton
          size="xs"
          variant="outline"
          label={t("pageNext")}
          hasTip={false}
          disabled={isLast}
          onClick={() => props.onPage(props.page + 1)}
        >
          <Icon name="right" size={14} />
        </IconButton>
      </Flex>
    </Flex>
  );
}
