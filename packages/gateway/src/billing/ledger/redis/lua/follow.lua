-- Applies movements from the database; returns how many. The arguments are ledger id and quota of each, in order.
--
-- Each movement is applied once: ids up to the `v` of the account are skipped. An account that is not loaded counts the
-- change in `n`.

local epochKey = KEYS[1]
local accountKey = KEYS[2]

local epoch = redis.call('GET', epochKey)
local a = redis.call('HMGET', accountKey, 'e', 'v')
if not epoch or a[1] ~= epoch then
  redis.call('HINCRBY', accountKey, 'n', 1)
  return 0
end
local last, done = tonumber(a[2]), 0
for at = 1, #ARGV, 2 do
  local id = tonumber(ARGV[at])
  if id > last then
    redis.call('HINCRBY', accountKey, 'b', ARGV[at + 1])
    redis.call('HSET', accountKey, 'v', ARGV[at])
    last = id
    done = done + 1
  end
end
return done
