-- Extends a lease, stores the usage that is due if the process dies, and raises the reservation to `wantedAmount`
-- unless it is ''.
--
-- Returns 0 unknown, 1 closed, 2 refused, 3 renewed, 4 account not loaded, 5 refused only because of other
-- reservations; 2, 4 and 5 also renew the lease.

local holdsKey = KEYS[1]
local leasesKey = KEYS[2]
local seenKey = KEYS[3]
local userKey = KEYS[4]
local tokenKey = KEYS[5]
local epochKey = KEYS[6]
local requestId = ARGV[1]
local reportedUsage = ARGV[2]
local nowGiven = ARGV[3]
local leaseMs = ARGV[4]
local wantedAmount = ARGV[5]
local withToken = ARGV[6]
local recordTail = ARGV[7]

-- include ../../../../redis/lua/clock.lua
-- include free.lua

local record = redis.call('HGET', holdsKey, requestId)
if not record then return 0 end
if record == 's' or record == 'r' then return 1 end
local held = string.match(record, '^%d+')
redis.call('HSET', seenKey, requestId, reportedUsage)
redis.call('ZADD', leasesKey, 'XX', clock(nowGiven) + leaseMs, requestId)
local more = wantedAmount == '' and 0 or tonumber(wantedAmount) - tonumber(held)
local amount, answer = held, 3
if more > 0 then
  local epoch = redis.call('GET', epochKey)
  local user, ofUser = free(userKey, epoch)
  local token, ofToken = false, 0
  if withToken == '1' then token, ofToken = free(tokenKey, epoch, '') end
  if not epoch or user == nil or token == nil then answer = 4
  elseif user < more or (token and token < more) then
    local isEnough = user + ofUser - held >= more and (not token or token + ofToken - held >= more)
    answer = isEnough and 5 or 2
  else
    amount = wantedAmount
    redis.call('HINCRBY', userKey, 'h', more)
    if withToken == '1' then redis.call('HINCRBY', tokenKey, 'h', more) end
  end
end
redis.call('HSET', holdsKey, requestId, amount .. recordTail)
return answer
