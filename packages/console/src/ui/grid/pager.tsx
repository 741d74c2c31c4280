import { Box, Flex, Input, NativeSelect } from "@chakra-ui/react";
import { useState, type FormEvent } from "react";
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
      className="grid-pager"
      align="center"
      wrap="wrap"
      columnGap="3"
      rowGap="1"
      px={{ base: "0", sm: "3.5" }}
      py="2"
      borderTopWidth={{ base: "0", sm: "1px" }}
      textStyle="sm"
      color="fg.muted"
    >
      <Box aria-live="polite" flex="1" whiteSpace="nowrap">
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
      {(props.total === undefined || props.total > props.size) && <PageJump key={props.page} {...props} />}
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

/** Jumps to a page by its number. */
function PageJump({ page, size, total, onPage }: PagerProps) {
  const t = useTexts();
  const language = useLanguage();
  const [draft, setDraft] = useState(String(page));
  const last = total === undefined ? undefined : Math.max(1, Math.ceil(total / size));
  const jump = (event?: FormEvent) => {
    event?.preventDefault();
    const wanted = Math.min(Math.trunc(Number(draft)), last ?? Infinity);
    if (wanted >= 1 && wanted !== page) onPage(wanted);
    else setDraft(String(page));
  };
  return (
    <Flex asChild align="center" gap="1.5" display={{ base: "none", sm: "flex" }}>
      <form onSubmit={jump}>
        {t("pageJump")}
        <Input
          size="xs"
          width="14"
          textAlign="end"
          inputMode="numeric"
          aria-label={t("pageJump")}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={() => jump()}
        />
        {last !== undefined && <span>{t("pageOf", { count: formatCount(last, language) })}</span>}
      </form>
    </Flex>
  );
}
