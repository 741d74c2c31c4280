import { script } from "../../../redis/script.ts";

/**
 * The scripts of live budgets. Their keys are `state` and `holds` (hashes), `leases` (a sorted set) and `epoch`.
 *
 * `state` has two fields for each budget: its id with `epoch revision window used held`, as the database said in that
 * epoch, and its id with `h`, the sum of the requests that are open in it. `holds` has a field for each request that is
 * open, or charged but not booked yet: `amount:user:id,id`, reserved in each of these budgets.
 */

const COMMON = `
local function clock(given)
  if given ~= '0' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function whole(number) return string.format('%.0f', number) end
local records, written = {}, {}
local function readRecords(holds, ids)
  if #ids == 0 then return end
  for at, text in ipairs(redis.call('HMGET', holds, unpack(ids))) do
    if text then
      local amount, user, of = string.match(text, '^(%d+):(%d+):(.*)$')
      records[ids[at]] = { amount = tonumber(amount), user = user, of = of }
    end
  end
end
local function put(id, amount, user, of)
  records[id] = { amount = amount, user = user, of = of }
  written[id] = whole(amount) .. ':' .. user .. ':' .. of
end
local function drop(id)
  records[id] = nil
  written[id] = false
end
local changes = {}
local function change(of, amount) changes[of] = (changes[of] or 0) + amount end
local function write(state, holds, leases, ends)
  local sums, texts, gone, scores = {}, {}, {}, {}
  for of, amount in pairs(changes) do
    for id in string.gmatch(of, '%d+') do sums[id] = (sums[id] or 0) + amount end
  end
  for id, amount in pairs(sums) do
    if amount ~= 0 then redis.call('HINCRBY', state, id .. 'h', whole(amount)) end
  end
  for id, text in pairs(written) do
    if text then
      table.insert(texts, id) table.insert(texts, text)
      if ends then table.insert(scores, ends) table.insert(scores, id) end
    else table.insert(gone, id) end
  end
  if #texts > 0 then redis.call('HSET', holds, unpack(texts)) end
  if #scores > 0 then redis.call('ZADD', leases, unpack(scores)) end
  if #gone > 0 then
    redis.call('HDEL', holds, unpack(gone))
    redis.call('ZREM', leases, unpack(gone))
  end
end`;

/**
 * Reserves in one set of budgets, in order. KEYS epoch state holds leases; ARGV now lease count, `count` times: budget
 * limit isHard window, then for each: request user amount wished kind, where kind is `n` for a request that Redis cannot
 * have, `h` for one that it has unless it ended, and `` otherwise. Returns for each: 0 granted, {0, granted}, {1, budget
 * that is short, 1 if it is not without what other requests have open}, {2} the request has ended, {3, epoch} budgets
 * are not read, {4} closed.
 */
export const PLACE = script(`${COMMON}
local epoch, count = redis.call('GET', KEYS[1]), tonumber(ARGV[3])
local ids, names, asked, first = {}, {}, {}, 4 + 4 * count
for n = 1, count do
  ids[n] = ARGV[4 * n]
  names[2 * n - 1], names[2 * n] = ids[n], ids[n] .. 'h'
end
for at = first, #ARGV, 5 do
  if ARGV[at + 4] ~= 'n' then table.insert(asked, ARGV[at]) end
end
readRecords(KEYS[3], asked)
local free, open, isRead = {}, {}, true
if count > 0 then
  local values = redis.call('HMGET', KEYS[2], unpack(names))
  for n = 1, count do
    local of, window, used, held = string.match(values[2 * n - 1] or '', '^(%d+) %d+ (%d+) (%d+) (%d+)$')
    if of ~= epoch then isRead = false
    else
      if tonumber(ARGV[4 * n + 3]) > tonumber(window) then used = 0 end
      open[n] = tonumber(values[2 * n] or 0)
      free[n] = ARGV[4 * n + 1] - used - held - open[n]
    end
  end
end
local mine = table.concat(ids, ',')
local function heldIn(id, before)
  if not before then return 0 end
  if before.of == mine or string.find(',' .. before.of .. ',', ',' .. id .. ',', 1, true) then return before.amount end
  return 0
end
local function shortOf(before, amount)
  for n = 1, count do
    local mine = heldIn(ids[n], before)
    local more = amount - mine
    if more > 0 and free[n] < more and ARGV[4 * n + 2] == '1' then
      return ids[n], free[n] + open[n] - mine >= more and 1 or 0
    end
  end
end
local answers = {}
for at = first, #ARGV, 5 do
  local id, amount, before, answer = ARGV[at], tonumber(ARGV[at + 2]), records[ARGV[at]], 0
  if not epoch then answer = {4}
  elseif ARGV[at + 4] == 'h' and not before then answer = {2}
  elseif not isRead then answer = {3, epoch}
  else
    local granted = tonumber(ARGV[at + 3]) or 0
    while granted > amount and shortOf(before, granted) do granted = math.floor(granted / 4) end
    granted = math.max(granted, amount)
    local short, isCrowded = shortOf(before, granted)
    if short then answer = {1, tonumber(short), isCrowded}
    else
      for n = 1, count do free[n] = free[n] - granted + heldIn(ids[n], before) end
      if before then change(before.of, -before.amount) end
      change(mine, granted)
      if count > 0 then put(id, granted, ARGV[at + 1], mine) else drop(id) end
      if granted > amount then answer = {0, granted} end
    end
  end
  table.insert(answers, answer)
end
write(KEYS[2], KEYS[3], KEYS[4], whole(clock(ARGV[1]) + ARGV[2]))
return answers`);

/**
 * Puts an amount in each of a set of budgets, without a check of their limits. KEYS state holds leases; ARGV now lease
 * isOpen budgets, then for each: request user amount. With isOpen 1 only for requests that are open, otherwise only for
 * those that are not, or with less.
 */
export const PUT = script(`${COMMON}
local isOpen, ids, answers = ARGV[3] == '1', {}, {}
for at = 5, #ARGV, 3 do table.insert(ids, ARGV[at]) end
readRecords(KEYS[2], ids)
for at = 5, #ARGV, 3 do
  local before, amount = records[ARGV[at]], tonumber(ARGV[at + 2])
  local isWanted = isOpen and before and (before.amount ~= amount or before.of ~= ARGV[4])
  if not isOpen then isWanted = not before or before.amount < amount end
  if isWanted then
    if before then change(before.of, -before.amount) end
    change(ARGV[4], amount)
    if amount > 0 and ARGV[4] ~= '' then put(ARGV[at], amount, ARGV[at + 1], ARGV[4]) else drop(ARGV[at]) end
  end
  table.insert(answers, 1)
end
write(KEYS[1], KEYS[2], KEYS[3], not isOpen and whole(clock(ARGV[1]) + ARGV[2]))
return answers`);

/**
 * Writes states of the database and removes requests that they contain. KEYS epoch state holds leases; ARGV epoch in
 * which the states were read, their count, and for each: budget revision window used held; then the requests. A state
 * of another epoch, or older than the known one, is not written. Returns the number of removed requests.
 */
export const FOLLOW = script(`${COMMON}
local epoch, count = redis.call('GET', KEYS[1]), tonumber(ARGV[2])
local ids, states = {}, {}
for at = 3 + 5 * count, #ARGV do table.insert(ids, ARGV[at]) end
readRecords(KEYS[3], ids)
if epoch == ARGV[1] and count > 0 then
  local names = {}
  for at = 3, 2 + 5 * count, 5 do table.insert(names, ARGV[at]) end
  local known = redis.call('HMGET', KEYS[2], unpack(names))
  for n = 1, count do
    local of, revision = string.match(known[n] or '', '^(%d+) (%d+) ')
    local at = 5 * n - 2
    if of ~= epoch or tonumber(revision) <= tonumber(ARGV[at + 1]) then
      table.insert(states, ARGV[at])
      table.insert(states, table.concat({ epoch, unpack(ARGV, at + 1, at + 4) }, ' '))
    end
  end
end
local removed = 0
for _, id in ipairs(ids) do
  local record = records[id]
  if record then
    change(record.of, -record.amount)
    drop(id)
    removed = removed + 1
  end
end
if #states > 0 then redis.call('HSET', KEYS[2], unpack(states)) end
write(KEYS[2], KEYS[3], KEYS[4])
return removed`);

/** KEYS holds leases; ARGV now limit. Returns id and record of requests that are open for long. */
export const LONG_OPEN = script(`${COMMON}
local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', clock(ARGV[1]), 'LIMIT', 0, ARGV[2])) do
  local record = redis.call('HGET', KEYS[1], id)
  if record then table.insert(found, id) table.insert(found, record)
  else redis.call('ZREM', KEYS[2], id) end
end
return found`);

/** KEYS state. Returns pairs of each budget in which something was open, and the sum of what is. */
export const OPEN_SUMS = script(`
local fields, sums = redis.call('HGETALL', KEYS[1]), {}
for at = 1, #fields, 2 do
  local id = string.match(fields[at], '^(%d+)h$')
  if id then table.insert(sums, { id, fields[at + 1] }) end
end
return sums`);

/** First number of a result of `PLACE`. */
export const PLACED = { granted: 0, short: 1, ended: 2, unread: 3, closed: 4 } as const;
